import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'

/**
 * Starts a busy loop of idle priority for each processor, which gives way to everything and keeps the processor awake:
 * waking a sleeping one takes longer than many a read, above all on virtual machines. A process that wakes up after a write
 * to disk waits for a tick of the scheduler instead, so that changes take whole multiples of 4 ms: nothing that writes is
 * measured beside them. The kernel ends them with this process, however it ends. Returns undefined where chrt or setpriv is
 * missing.
 */
export async function startSpinners(): Promise<{ stop: () => void } | undefined> {
  const spinners = Array.from({ length: availableParallelism() }, () =>
    spawn('setpriv', ['--pdeathsig', 'KILL', 'chrt', '--idle', '0', 'sh', '-c', 'while :; do :; done'], {
      stdio: 'ignore',
    }),
  )
  const stop = () => {
    for (const spinner of spinners) spinner.kill('SIGKILL')
  }
  try {
    await Promise.all(spinners.map((spinner) => once(spinner, 'spawn')))
  } catch {
    stop()
    return undefined
  }
  // Where chrt is missing or not allowed, the process ends at once. It must not keep the run from ending.
  const ended = spinners.map((spinner) => {
    spinner.unref()
    return once(spinner, 'exit')
  })
  const isRefused = await Promise.race([
    Promise.race(ended).then(() => true),
    new Promise<boolean>((done) => setTimeout(() => done(false), 500)),
  ])
  if (!isRefused) return { stop }
  stop()
  return undefined
}
