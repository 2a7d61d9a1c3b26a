package config

// ownsModes: Windows reports modes that mean nothing; access lists decide there.
const ownsModes = false
