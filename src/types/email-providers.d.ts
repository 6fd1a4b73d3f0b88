declare module 'email-providers' {
  /** Every known domain of a public mail service, in lower case. */
  const domains: readonly string[]
  export default domains
}
