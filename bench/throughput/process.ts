import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Command, Loaded, Reply } from './protocol.ts'
import type { SubjectName } from './subjects.ts'

/** Process that generates the load. */
export interface LoadProcess {
  prepare(baseUrl: string, subject: SubjectName, pollMs?: number): Promise<void>
  load(seconds: number): Promise<Loaded>
  stop(): Promise<void>
}

export const startLoadProcess = (): LoadProcess => {
  const child = fork(path.join(import.meta.dirname, 'client.ts'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process of the load ended with ${code}`)
  })
  ended.catch(() => undefined)
  const ask = async (command: Command): Promise<Loaded | undefined> => {
    const answered = once(child, 'message')
    child.send(command)
    const [reply] = (await Promise.race([answered, ended])) as [Reply]
    if (!reply.ok) throw new Error(reply.error)
    return reply.loaded
  }
  return {
    prepare: async (baseUrl, subject, pollMs) => void (await ask({ ask: 'prepare', baseUrl, subject, pollMs })),
    load: async (seconds) => (await ask({ ask: 'load', seconds })) ?? { seconds, times: [] },
    stop: async () => {
      child.kill()
      await ended.catch(() => undefined)
    },
  }
}
