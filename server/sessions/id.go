package sessions

import "regexp"

var id = regexp.MustCompile(`^[A-Za-z0-9._:@-]{1,128}$`)

// IDRule says in words what ValidID accepts.
const IDRule = "1 to 128 of A-Z a-z 0-9 . _ : @ -, neither . nor .."

// ValidID tells whether a session can be called that: what one segment of a path can say
// plainly, which is how every surface names it.
func ValidID(s string) bool { return id.MatchString(s) && s != "." && s != ".." }
