import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { ROOT } from '#local/prepare.ts'
import { until } from './support.ts'

const SAMPLES = path.join(ROOT, 'examples', 'sdk')

/** A sample that runs in its own process. */
export interface RunningSample {
  lines: string[]
  errors(): string
  /** Waits for the exit. @returns the exit code */
  ended: Promise<number | null>
  stop(): Promise<void>
}

/** Starts `examples/sdk/<file>` in its language, with only the given settings in the environment. */
export const startSample = (file: string, settings: Record<string, string>): RunningSample => {
  const child = spawn(file.endsWith('.py') ? 'python3' : process.execPath, [path.join(SAMPLES, file)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_PROXY: '*', PYTHONDONTWRITEBYTECODE: '1', ...settings },
  })
  const lines: string[] = []
  let output = ''
  let errors = ''
  child.stdout.on('data', (piece: Buffer) => {
    output += piece
    lines.splice(0, lines.length, ...output.split('\n').filter((line) => line !== ''))
  })
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    lines,
    errors: () => errors,
    ended,
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** Starts a sample that serves requests, and waits until it listens. */
export const serveSample = async (file: string, settings: Record<string, string>): Promise<RunningSample> => {
  const sample = startSample(file, settings)
  await until(() => {
    if (sample.errors() !== '') throw new Error(sample.errors())
    return sample.lines.find((line) => line.includes('listening at'))
  })
  return sample
}

/** Starts a server that answers with the given function. */
export const startServer = async (
  answer: (request: IncomingMessage, body: Buffer) => Promise<{ status: number; body?: string | Buffer }>,
) => {
  const server = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { status, body } = await answer(request, Buffer.concat(chunks)).catch((error: Error) => ({
      status: 500,
      body: String(error),
    }))
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
