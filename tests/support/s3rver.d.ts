declare module 's3rver' {
  import type { AddressInfo } from 'node:net'

  interface S3rverOptions {
    address: string
    port: number
    directory: string
    silent: boolean
    vhostBuckets: boolean
    configureBuckets: { name: string }[]
    key: string
    cert: string
  }

  /** A server that speaks the protocol of Amazon S3 and keeps the objects in a folder. */
  export default class S3rver {
    static readonly defaultOptions: { accessKeyId?: string }
    constructor(options: Partial<S3rverOptions>)
    run(): Promise<AddressInfo>
    close(): Promise<void>
  }
}
