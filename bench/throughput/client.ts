import { startReceiver } from '#testkit/receiver.ts'
import { clientOf } from '../latency/setup.ts'
import type { Command, Loaded, Reply } from './protocol.ts'
import { type Load, SUBJECTS } from './subjects.ts'

// A separate process, so that the load, the agents and the receivers don't count as the platform's CPU.

let load: Load | undefined

const apply = async ({ loops, once }: Load, seconds: number): Promise<Loaded> => {
  const times: number[] = []
  const began = performance.now()
  const end = began + seconds * 1_000
  await Promise.all(
    Array.from({ length: loops }, async (_, loop) => {
      while (performance.now() < end) times.push(...(await once(loop)))
    }),
  )
  return { seconds: (performance.now() - began) / 1_000, times }
}

const handle = async (command: Command): Promise<Reply> => {
  if (command.ask === 'prepare') {
    const { baseUrl, subject, pollMs } = command
    load = await SUBJECTS[subject]({ call: clientOf(baseUrl), open: startReceiver, pollMs })
    return { ok: true }
  }
  if (!load) throw new Error('Nothing is prepared')
  return { ok: true, loaded: await apply(load, command.seconds) }
}

process.on('message', (command: Command) => {
  handle(command)
    .catch((error): Reply => ({ ok: false, error: String(error?.stack ?? error) }))
    .then((reply) => process.send?.(reply))
})
// Ends with the other process.
process.on('disconnect', () => process.exit())
