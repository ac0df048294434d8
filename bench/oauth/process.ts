import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import path from 'node:path'
import type { Command, Operation, Prepared, Spent } from './side.ts'

/** What a block of requests took. */
export interface Block extends Spent {
  requests: number
  /** Milliseconds of each request, as its client sees it. */
  latencies: number[]
}

/** A side in a process of its own; this process is its client, so that the load is not in its CPU. */
export class SideProcess {
  readonly #child: ChildProcess
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  /** Fails as soon as the process has ended, with what it wrote. */
  readonly #ended: Promise<never>
  #baseUrl = ''

  private constructor(child: ChildProcess) {
    this.#child = child
    let errors = ''
    child.stderr?.on('data', (piece: Buffer) => {
      errors += piece
    })
    this.#ended = once(child, 'exit').then(([status]) => {
      throw new Error(`${child.spawnargs.at(-1)} ended with ${status}: ${errors.slice(-2_000)}`)
    })
    this.#ended.catch(() => undefined)
  }

  /** @param file a module of this folder that calls `serveSide` */
  static async start(file: string, args: readonly string[]): Promise<SideProcess> {
    const child = fork(path.join(import.meta.dirname, file), args, {
      env: { NODE_ENV: 'production' },
      // Logs are written, as they are in production; nobody reads them here.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const started = new SideProcess(child)
    started.#baseUrl = (await started.#message<{ baseUrl: string }>()).baseUrl
    return started
  }

  /** Sends requests one after the other over one connection, as the gateway hands them to an instance of a function. */
  async block(operation: Operation, requests: number): Promise<Block> {
    const { path: to, bodies } = await this.#ask<Prepared>({ ask: 'prepare', operation, count: requests })
    await this.#ask({ ask: 'begin' })
    const latencies: number[] = []
    const answers: Answer[] = []
    for (const body of bodies) {
      const began = performance.now()
      answers.push(await this.#post(to, body))
      latencies.push(performance.now() - began)
    }
    const spent = await this.#ask<Spent>({ ask: 'end' })
    for (const answer of answers) verify(operation, answer)
    return { ...spent, requests, latencies }
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    this.#child.disconnect()
    await this.#ended.catch(() => undefined)
  }

  async #ask<T>(command: Command): Promise<T> {
    const answered = this.#message<T>()
    this.#child.send(command)
    return answered
  }

  async #message<T>(): Promise<T> {
    return (await Promise.race([once(this.#child, 'message'), this.#ended]))[0] as T
  }

  #post(to: string, body: string): Promise<Answer> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      const sent = request(this.#baseUrl + to, { method: 'POST', agent: this.#agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          text += piece
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

interface Answer {
  status: number
  text: string
}

/** Nothing counts that was not answered in full. @throws Error with the answer otherwise */
export const verify = (operation: Operation, { status, text }: Answer): void => {
  const body = status === 200 ? JSON.parse(text) : {}
  const complete = operation === 'introspection' ? body.active === true : body.access_token && body.refresh_token
  if (!complete) throw new Error(`${operation} was answered with ${status}: ${text.slice(0, 1_000)}`)
}
