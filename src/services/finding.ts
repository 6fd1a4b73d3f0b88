/** What was looked at, whether it is right, and otherwise what to do. */
export interface Finding {
  check: string
  ok: boolean
  message: string
}
