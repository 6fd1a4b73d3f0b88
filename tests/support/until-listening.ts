import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { patientMs } from './patient-limits.ts'

/** Waits until a server listens on a port of the loopback interface: a port tells nobody when it opens. */
export async function untilListening(port: number): Promise<void> {
  for (const deadline = Date.now() + patientMs; ;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await pause(20)
    } finally {
      socket.destroy()
    }
  }
}
