import { setTimeout as pause } from 'node:timers/promises'
import { abortOnSignals } from '../abort-on-signals.ts'
import { type Api, ApiError, EVENTS, isTemporary, retryDelay } from '../api.ts'
import { APP_OPTION, type App, loadChosenApp } from '../app.ts'
import { type Command, textOf, UsageError } from '../command.ts'
import { bodyText, shownBody } from '../listening/bodies.ts'
import { readStreamEvents } from '../listening/events.ts'
import { forward, type ListenedRequest, type Outcome } from '../listening/forward.ts'
import { subscribeTemporarily } from '../listening/subscription.ts'
import { type Output, oneLine, timeOfDay } from '../output.ts'

export const listen: Command = {
  name: 'listen',
  usage: 'listen --forward-to <url>',
  summary: 'Receive your sandbox’s runs and webhooks on your machine',
  help: `Forwards the requests for the app’s installation in your sandbox to your machine: run.execute (including test runs) and
webhook deliveries, with their original bytes and signatures. The platform uses your server’s answers. Customers’
installations are never diverted. The addresses in the manifest and in the subscriptions don’t have to exist. A newer
listener for the same app takes over. Press Ctrl-C to stop.

  --forward-to <url>           exact address for run.execute requests, and for webhooks by default
  --forward-webhooks-to <url>  address for webhooks
  --events <masks>             also receive these event types, such as run.* or task.created,custom.*, without a subscription of
                               yours: creates one while you listen and prints its secret; needs the scope webhooks:manage
  --bodies                     show the bodies of requests and answers; callback tokens are hidden
${APP_OPTION}
  --json                       print one line for each request, with bodies

Examples:
  aip listen --forward-to http://127.0.0.1:8787
  aip listen --forward-to localhost:8787/run --forward-webhooks-to localhost:8788/hooks
  aip listen --forward-to localhost:8787 --events 'run.*,task.created' --bodies
  aip listen --forward-to 127.0.0.1:8787 --json | jq -c '{event, status, duration_ms}'`,
  options: {
    app: { type: 'string' },
    'forward-to': { type: 'string' },
    'forward-webhooks-to': { type: 'string' },
    events: { type: 'string' },
    bodies: { type: 'boolean' },
  },
  positionals: 0,
  async run(invocation) {
    const { values, out } = invocation
    const agent = targetOf(textOf(values['forward-to']), '--forward-to')
    const webhooks = values['forward-webhooks-to']
      ? targetOf(textOf(values['forward-webhooks-to']), '--forward-webhooks-to')
      : agent
    const events = textOf(values.events)
      ?.split(',')
      .map((mask) => mask.trim())
    const api = invocation.api()
    const stop = abortOnSignals()
    out.progress('Connecting')
    try {
      const app = await loadChosenApp(invocation, api, 'listen')
      const targets = { 'run.execute': agent, webhook: webhooks }
      const listening = new Listening(api, app, targets, out, values.bodies === true, stop.signal)
      if (events === undefined) return await listening.run()
      const subscription = await subscribeTemporarily(api, app.id, events)
      try {
        const { id, secret } = subscription
        out.result(
          { type: 'subscribed', webhook_id: id, events, secret },
          `Receiving ${events.join(', ')}, signed with ${secret}`,
        )
        return await listening.run()
      } finally {
        await subscription.end()
      }
    } finally {
      stop.end()
    }
  },
}

/** @throws {UsageError} */
const targetOf = (text: string | undefined, option: string): URL => {
  const address = text !== undefined && !/^[a-z]+:\/\//i.test(text) ? `http://${text}` : text
  if (address !== undefined && /^https?:/i.test(address) && URL.canParse(address)) return new URL(address)
  throw new UsageError(`${option} must be an address such as http://127.0.0.1:8787.`, 'listen')
}

type Targets = Record<ListenedRequest['kind'], URL>

/** A listener, which can span several connections. */
class Listening {
  readonly #api: Api
  readonly #app: App
  readonly #targets: Targets
  readonly #out: Output
  readonly #showsBodies: boolean
  readonly #signal: AbortSignal
  /** Requests in progress. Each reports its own outcome. */
  readonly #open = new Set<Promise<void>>()
  readonly #seen = new Set<string>()
  #listener: string | undefined
  #lastEventId: string | undefined
  #greeted = false

  constructor(api: Api, app: App, targets: Targets, out: Output, showsBodies: boolean, signal: AbortSignal) {
    this.#api = api
    this.#app = app
    this.#targets = targets
    this.#out = out
    this.#showsBodies = showsBodies
    this.#signal = signal
  }

  /** @returns the exit code */
  async run(): Promise<number> {
    let failures = 0
    while (!this.#signal.aborted) {
      try {
        const end = await this.#connection(() => {
          this.#out.endProgress()
          if (failures > 0) this.#out.note('Reconnected.')
          failures = 0
        })
        if (end === 'replaced') {
          this.#out.error({
            code: 'replaced',
            message: 'Another of your listeners took over for this app.',
            fix: 'Continue there, or run this command again to take over.',
          })
          await Promise.all(this.#open)
          return 1
        }
        await this.#wait(Math.random() * 500)
      } catch (error) {
        if (this.#signal.aborted) break
        const passing = isTemporary(error) || (error instanceof ApiError ? error.code === 'conflict' : true)
        if (!passing) throw error
        failures += 1
        if (failures === 1) this.#out.note('The connection to the platform was lost. Reconnecting …')
        await this.#wait(retryDelay(failures, error instanceof ApiError ? error.retryAfterMs : 0))
      }
    }
    this.#out.endProgress()
    await this.#end()
    return 0
  }

  #wait(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#signal }).catch(() => {})
  }

  async #connection(ready: () => void): Promise<'replaced' | 'ended'> {
    const headers: Record<string, string> = { accept: EVENTS }
    if (this.#lastEventId !== undefined) headers['last-event-id'] = this.#lastEventId
    const path = `/api/v1/dev/listen?app_id=${this.#app.id}`
    const response = await this.#api.open('GET', path, { headers, signal: this.#signal })
    if (response.status === 204) return 'replaced'
    for await (const { id, event, data } of readStreamEvents(response)) {
      if (id !== undefined) this.#lastEventId = id
      if (event === 'replaced') return 'replaced'
      if (event === 'ready') {
        this.#listener = JSON.parse(data).listener
        ready()
        this.#greet()
      } else if (event === 'request') this.#take(JSON.parse(data))
    }
    return 'ended'
  }

  #greet(): void {
    if (this.#greeted) return
    this.#greeted = true
    const { 'run.execute': agent, webhook } = this.#targets
    const started = { type: 'ready', app_id: this.#app.id, run_execute_to: agent.href, webhooks_to: webhook.href }
    if (this.#out.json) this.#out.result(started, '')
    this.#out.note(`Listening for ${this.#app.slug} (${this.#app.id}). Press Ctrl-C to stop.`)
    this.#out.note(`  run.execute → ${agent.href}\n  webhooks    → ${webhook.href}`)
  }

  #take(request: ListenedRequest): void {
    // The platform sends a request again after a lost connection.
    if (this.#seen.has(request.id)) return
    this.#seen.add(request.id)
    const work = this.#handle(request).finally(() => this.#open.delete(work))
    this.#open.add(work)
  }

  async #handle(request: ListenedRequest): Promise<void> {
    const at = new Date()
    const startedAt = performance.now()
    const outcome = await forward(request, this.#targets[request.kind], this.#signal)
    const duration_ms = Math.round(performance.now() - startedAt)
    const refused = await this.#answer(request, outcome)
    this.#show(request, outcome, at, duration_ms, refused)
  }

  /** Sends the answer to the platform. @returns the reason if the platform refused it */
  async #answer({ id, time_left_ms }: ListenedRequest, outcome: Outcome): Promise<string | undefined> {
    const until = performance.now() + time_left_ms
    for (let tries = 0; ; tries++) {
      try {
        await this.#api.call('POST', `/api/v1/dev/listen/${id}/answer`, { body: outcome })
        return undefined
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        // An earlier attempt may have succeeded although its response was lost.
        if (tries > 0 && error.code === 'conflict') return undefined
        if (!isTemporary(error) || performance.now() > until || this.#signal.aborted) return error.message
        await pause(Math.min(retryDelay(tries, error.retryAfterMs), 2_000))
      }
    }
  }

  #show(request: ListenedRequest, outcome: Outcome, at: Date, duration_ms: number, refused: string | undefined): void {
    const { id, kind, event, run_id, delivery_id, attempt } = request
    const status = 'failure' in outcome ? null : outcome.status
    const failure = 'failure' in outcome ? outcome.failure : null
    const failed = failure !== null || (status ?? 0) < 200 || (status ?? 0) > 299
    const shown = { type: 'request', at: at.toISOString(), id, kind, event, run_id, delivery_id, attempt }
    const { paint } = this.#out
    const text = oneLine(
      [
        timeOfDay(at),
        event.padEnd(22),
        run_id ?? delivery_id ?? id,
        '→',
        paint(failed ? 'red' : 'green', failure === null ? String(status) : MEANING[failure]),
        `${duration_ms} ms`,
        ...((attempt ?? 1) > 1 ? [`attempt ${attempt}`] : []),
        ...(refused === undefined ? [] : [paint('yellow', `refused: ${refused}`)]),
      ].join('  '),
    )
    const sent = shownBody(request.body_base64)
    const answered = 'failure' in outcome ? null : shownBody(outcome.body_base64)
    const bodies = [`  → ${bodyText(sent)}`, ...(answered === null ? [] : [`  ← ${bodyText(answered)}`])]
    this.#out.result(
      { ...shown, status, failure, failed, duration_ms, refused: refused ?? null, request: sent, response: answered },
      this.#showsBodies ? [text, ...bodies].join('\n') : text,
    )
  }

  /** Ends the listener, so that requests go to their usual addresses, and waits briefly for open requests. */
  async #end(): Promise<void> {
    const ending = AbortSignal.timeout(3_000)
    const query = `app_id=${this.#app.id}&listener=${this.#listener}`
    const pending = [...this.#open]
    if (this.#listener !== undefined) {
      pending.push(this.#api.call('DELETE', `/api/v1/dev/listen?${query}`, { signal: ending }))
    }
    await Promise.race([Promise.allSettled(pending), pause(3_000, undefined, { ref: false })])
    this.#out.note('Stopped listening. Requests go to their usual addresses again.')
  }
}

const MEANING: Record<Extract<Outcome, { failure: string }>['failure'], string> = {
  connect: 'no connection',
  timeout: 'timed out',
  reset: 'connection closed',
  decode: 'not HTTP',
}
