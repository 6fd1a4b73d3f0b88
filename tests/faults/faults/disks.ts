import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { buildUpload } from '../../support/forms.ts'
import { makePng } from '../../support/images.ts'
import { conclude, judge, Skipped, summarize, type Fault } from '../fault.ts'
import { createClient, underLoad } from '../load.ts'
import { execute, type Scope } from '../parts/processes.ts'
import { makeScratch, type Stage } from '../stage.ts'

/** Mounts a small file system in memory, which root may. */
async function mountSmall(scope: Scope, sizeMiB: number): Promise<string> {
  const folder = join(await makeScratch(scope), 'disk')
  await mkdir(folder)
  try {
    await execute('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=755`, 'tmpfs', folder])
  } catch {
    throw new Skipped('mounting a small file system is not permitted here')
  }
  scope.defer(() => execute('umount', ['-l', folder]))
  return folder
}

/** Leaves no room. */
const fill = (folder: string) =>
  execute('sh', ['-c', 'dd if=/dev/zero of="$0/ballast" bs=64k 2>/dev/null || true; sync', folder])
const empty = (folder: string) => execute('rm', ['-f', join(folder, 'ballast')])

let disk: string

interface StorageFault extends Pick<Fault, 'name' | 'does'> {
  breaks: () => Promise<unknown>
  mends: () => Promise<unknown>
}

const storageFault = ({ name, does, breaks, mends }: StorageFault): Fault => ({
  ...{ name, does },
  goal: 'uploads are answered 503 with Retry-After, the rest goes on; nothing half-written; back by itself',
  async stage(scope) {
    disk = await mountSmall(scope, 4)
    return { environment: { DATA_DIR: disk } }
  },
  async run(stage) {
    const client = createClient(stage.origin, 4)
    const [caller] = stage.callers
    const { headers, payload } = buildUpload(await makePng())
    const upload = () =>
      client.send({
        ...{ operation: 'photo', method: 'POST', path: '/v1/me/photo', headers, body: payload },
        apiKey: caller?.apiKey ?? '',
      })
    const before = await upload()
    await breaks()
    const meanwhile = [await upload(), await upload(), await upload()]
    const rest = await client.send({ operation: 'me', path: '/v1/me', apiKey: caller?.apiKey ?? '' })
    await mends()
    const after = await upload()
    client.close()
    const unclear = meanwhile.filter(
      ({ status, retryAfterSeconds }) => status !== 503 || retryAfterSeconds === undefined,
    )
    const left = await findLeftovers(stage)
    return {
      ...conclude([
        before.status !== 200 && `an upload failed before: ${summarize([before])}`,
        unclear.length > 0 && `uploads were answered ${summarize(unclear)}`,
        rest.status !== 200 && `reading failed: ${summarize([rest])}`,
        after.status !== 200 && `uploads fail afterwards: ${summarize([after])}`,
        left,
      ]),
      ...{ requests: 6, failed: meanwhile.filter(({ status }) => status !== 200).length },
    }
  },
})

/** Files that nothing shows, and pictures without a file. */
async function findLeftovers({ postgres }: Stage): Promise<string | false> {
  const files = await readdir(join(disk, 'uploads'))
  const shown = await postgres.query<{ key: string }>('select key from pictures where unused_since is null')
  const keys = shown.map(({ key }) => key)
  const lost = keys.filter((key) => !files.includes(key))
  const loose = files.filter((file) => !keys.includes(file))
  return (
    lost.length + loose.length > 0 && `${lost.length} pictures without a file, ${loose.length} files too many`
  )
}

export const diskFaults: Fault[] = [
  storageFault({
    name: 'storage-full',
    does: 'the disk of the pictures is full',
    breaks: () => fill(disk),
    mends: () => empty(disk),
  }),
  storageFault({
    name: 'storage-read-only',
    does: 'the disk of the pictures is read-only',
    breaks: () => execute('mount', ['-o', 'remount,ro', disk]),
    mends: () => execute('mount', ['-o', 'remount,rw', disk]),
  }),
  {
    name: 'database-full',
    does: "the database's disk is full for 10 s; a server that ends is started again, as systemd would",
    goal: 'success or 503 with Retry-After within 6 s, nothing lost; back within 3 s of there being room',
    async stage(scope) {
      disk = await mountSmall(scope, 400)
      return { databaseFolder: disk }
    },
    async run(stage) {
      const { postgres } = stage
      let ends = 0
      const report = await underLoad(
        stage,
        async (load) => {
          await fill(disk)
          for (let i = 0; i < 20; i++) {
            await pause(500)
            if (postgres.process().isRunning()) continue
            ends += 1
            await postgres.start().catch(() => undefined)
          }
          await empty(disk)
          await postgres.start()
          load.isOver()
        },
        { afterMs: 6_000 },
      )
      return judge(report, { answerMsMax: 6_000, recoveryMsMax: 3_000 }, `the server ended ${ends} times`)
    },
  },
]
