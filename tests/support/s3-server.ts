import S3rver from 's3rver'
import { afterFile } from './after-file.ts'
import { makeFolder } from './uploads.ts'

export interface S3Server {
  /** The STORAGE_URL of the bucket, with a folder in it. */
  url: string
  endpoint: string
  /** Where the objects are kept, as files of the server's own naming. */
  folder: string
}

/** Starts a server that speaks the protocol of Amazon S3, on loopback, with one bucket, for the tests of a file. */
export async function startS3Server(tls?: { key: string; cert: string }): Promise<S3Server> {
  const folder = await makeFolder()
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    directory: folder,
    silent: true,
    vhostBuckets: false,
    configureBuckets: [{ name: 'pictures' }],
    ...tls,
  })
  const { port } = await server.run()
  afterFile(() => server.close())
  // Where the AWS SDK looks for the credentials; these are the only ones that the server knows.
  process.env.AWS_ACCESS_KEY_ID = 'S3RVER'
  process.env.AWS_SECRET_ACCESS_KEY = 'S3RVER'
  const endpoint = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
  return { url: `s3://pictures/some/folder?endpoint=${endpoint}&pathStyle=true`, endpoint, folder }
}
