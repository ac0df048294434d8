import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Language } from './packages.ts'

const LIMIT_MS = 30_000

const START: Record<Language, (port: number) => [program: string, args: string[]]> = {
  ts: () => [process.execPath, ['--env-file=.env', 'agent.ts']],
  py: (port) => ['.venv/bin/uvicorn', ['agent:app', '--env-file', '.env', '--port', String(port)]],
}

/** Starts the agent in its folder, and waits until it refuses a request without a signature. */
export const startAgent = async (folder: string, language: Language, port: number): Promise<AsyncDisposable> => {
  const [program, args] = START[language](port)
  const env = { PATH: process.env.PATH ?? '', PORT: String(port) }
  const child = spawn(program, args, { cwd: folder, env, stdio: 'ignore' })
  const asked = () => fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' }).catch(() => undefined)
  for (const end = Date.now() + LIMIT_MS; ; ) {
    const answer = await asked()
    if (answer?.status === 401) break
    if (answer) throw new Error(`the agent answered ${answer.status} to a request without a signature`)
    if (Date.now() > end) throw new Error('the agent didn’t start')
    await sleep(20)
  }
  return { [Symbol.asyncDispose]: () => stop(child) }
}

export const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}
