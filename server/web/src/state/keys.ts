// Keys of things that have two names. NUL is in no id that the wire carries.

/** Of a call: its id alone repeats across runs. */
export function callKey(run: string, callId: string): string {
  return `${run}\0${callId}`;
}

/** Of streamed text: the entry that it will be part of, and which part. */
export function bufferKey(entry: string, field: string): string {
  return `${entry}\0${field}`;
}
