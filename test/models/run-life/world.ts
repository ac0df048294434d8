import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { DAY, HOUR, SECOND } from '#shared/kernel/clock.ts'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { listActiveRuns } from '#shared/work/runs/chain.ts'
import { ChainMarkEntity, RunEntity } from '#shared/work/runs/entity.ts'
import { loadRunsInSlots } from '#shared/work/runs/slots.ts'
import { callbackToken, type Installed, installed, member } from '#testkit/fixtures.ts'
import type { Answer, TestPlatform } from '#testkit/platform.ts'
import {
  apply,
  approvalOf,
  type Call,
  handleApprovedCall,
  isActive,
  type Model,
  type ModelRun,
  newRun,
  type Op,
  pendingOf,
  recordAnswer,
  recordCall,
  type Script,
  scriptOf,
  sweep,
  usableApprovalOf,
  view,
} from './model.ts'

type Message = TestPlatform['messages'][number]

/** Nothing listens there: {@link World} plays the other side of outgoing requests. */
const PAGE = 'http://127.0.0.1:9'

const answer = (status: number, body: unknown): OutgoingResult => ({
  kind: 'response',
  status,
  headers: {},
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  truncated: false,
  durationMs: 1,
})

/**
 * An installed agent on the real platform and its real store, next to the {@link Model}. Every action is applied to
 * both. This class plays the agent and the pages that it fetches, and delivers messages one at a time, in any order.
 */
export class World {
  readonly #platform: TestPlatform
  readonly #model: Model
  readonly #app: Installed
  #person: { token: string; since: number }
  readonly #delivered: Message[] = []
  readonly #kept = new Map<string, { at: number; text: string }>()
  /** Every answer that was compared. */
  readonly answers: string[] = []
  /** Calls of the agent while the current message was handled. */
  #calls = 0
  #fetches = 0

  private constructor(platform: TestPlatform, model: Model, app: Installed) {
    this.#platform = platform
    this.#model = model
    this.#app = app
    this.#person = { token: app.person.token, since: platform.clock.now() }
    platform.deps.http.send = (request) => this.#outside(request.url, String(request.body ?? ''))
  }

  static async create(platform: TestPlatform, model: Model): Promise<World> {
    platform.outbox.length = 0
    platform.messages.length = 0
    platform.emitted.length = 0
    return new World(
      platform,
      model,
      await installed(platform.deps, { endpoint: `${PAGE}/agent`, resume: model.resume }),
    )
  }

  get #now(): number {
    return this.#platform.clock.now()
  }

  /** Lets time pass between two requests, so that no rate limit applies. */
  #tick(): void {
    this.#platform.clock.advance(150)
  }

  async #api(method: string, path: string, body?: unknown, key?: string): Promise<Answer> {
    this.#tick()
    const { installation, grant } = this.#app
    const { token } = await issueToken(this.#platform.deps, 'access', {
      ins: installation.id,
      ws: installation.workspace_id,
      app: installation.app_id,
      grt: grant.id,
      sv: 1,
    })
    return this.#send(method, `/api/v1${path}`, token, body, key)
  }

  #send(method: string, path: string, token: string, body?: unknown, key?: string): Promise<Answer> {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    return this.#platform.call(method, path, { token, headers, ...(body !== undefined && { body }) })
  }

  // — clients —

  async start(agent: Script, onResume: Script, key: string | undefined): Promise<void> {
    const kept = key === undefined ? undefined : this.#kept.get(key)
    const real = await this.#api('POST', '/runs', { input: {} }, key)
    if (kept && this.#now - kept.at < DAY) {
      expect([real.headers['idempotency-replayed'], real.text]).toEqual(['true', kept.text])
      return
    }
    const refused = this.#model.runs.filter(isActive).length >= 5
    expect(short(real)).toBe(refused ? '409 too_many_active_runs' : '201 queued')
    if (key !== undefined) this.#kept.set(key, { at: this.#now, text: real.text })
    if (refused) return
    const run = newRun(real.body.id, agent, onResume)
    this.#model.runs.push(run)
    await this.#compare(run)
  }

  /** Sends one request. With a key, sends it again, which returns the same bytes and does nothing. */
  async do(run: ModelRun, op: Op, key: string | undefined): Promise<void> {
    if (this.#wouldWait(run, op)) return
    this.#tick()
    const real = await this.#request(run, op, undefined, key)
    expect(short(real), JSON.stringify(op)).toBe(apply(this.#model, run, op, this.#now))
    if (key !== undefined && real.status < 300 && op.kind !== 'ask') {
      this.#tick()
      const again = await this.#request(run, op, undefined, key)
      expect([again.headers['idempotency-replayed'], again.text]).toEqual(['true', real.text])
    }
    this.answers.push(`${op.kind} ${short(real)}`)
    await this.#compare(run)
  }

  /** Sends two requests at the same time. The result must match one of the two orders. */
  async race(run: ModelRun, one: Op, other: Op): Promise<void> {
    if (this.#wouldWait(run, one) || this.#wouldWait(run, other)) return
    // A call that is approved at that moment also waits for its execution.
    const kinds = [one, other].map((op) => (op.kind === 'decide' ? op.decision : op.kind))
    if (kinds.includes('ask') && kinds.includes('approve')) return
    this.#tick()
    this.#tick()
    const at = this.#model.runs.indexOf(run)
    const outcomes = (first: Op, second: Op) => {
      const model = structuredClone(this.#model)
      const copy = model.runs[at] as ModelRun
      const answers = [apply(model, copy, first, this.#now), apply(model, copy, second, this.#now)]
      return { copy, answers }
    }
    const forth = outcomes(one, other)
    const back = outcomes(other, one)
    back.answers.reverse()
    const real = (await Promise.all([this.#request(run, one), this.#request(run, other)])).map(short)
    this.answers.push(...real.map((one) => `race ${one}`))
    const seen = await this.#read(run)
    const found = [forth, back, ...this.#takenOnce(at, one, other)].find(
      ({ copy, answers }) => isDeepStrictEqual(answers, real) && isDeepStrictEqual(view(copy), seen),
    )
    if (!found) expect({ answers: real, ...seen }).toEqual({ answers: forth.answers, ...view(forth.copy) })
    else this.#model.runs[at] = found.copy
    await this.#compare(this.#model.runs[at] as ModelRun)
  }

  /** Of two calls that take the same decided result, one may get a conflict instead of asking again. */
  #takenOnce(at: number, one: Op, other: Op) {
    const model = structuredClone(this.#model)
    const copy = model.runs[at] as ModelRun
    const same = one.kind === 'ask' && other.kind === 'ask' && one.call === other.call
    const standing = same ? usableApprovalOf(copy, one.call) : undefined
    if (!standing || standing.status === 'pending') return []
    const taken = apply(model, copy, one, this.#now)
    return [
      { copy, answers: [taken, '409 conflict'] },
      { copy, answers: ['409 conflict', taken] },
    ]
  }

  /** A decided call that isn't executed yet would wait up to 25 seconds. Another test covers that. */
  #wouldWait(run: ModelRun, op: Op): boolean {
    const status = op.kind === 'ask' && isActive(run) ? usableApprovalOf(run, op.call)?.status : undefined
    return status === 'approved' || status === 'executing'
  }

  async #request(run: ModelRun, op: Op, bound?: string, key?: string): Promise<Answer> {
    const { deps } = this.#platform
    if (op.kind === 'decide') {
      const id = approvalOf(run, op.which)?.id ?? 'stp_01kae5m1v8w6c3x9q2r7t4y0zn'
      const path = `/console/runs/${run.id}/steps/${id}/decision`
      return this.#send('POST', path, await this.#personToken(), { decision: op.decision }, key)
    }
    const token = bound ?? (await callbackToken(deps, this.#app, run.id))
    const post = (path: string, body?: unknown) => this.#send('POST', `/api/v1${path}`, token, body, key)
    switch (op.kind) {
      case 'complete':
        return post(`/runs/${run.id}/complete`, {
          status: op.status,
          steps: op.steps,
          ...(op.status === 'succeeded' ? { output: { by: 'complete' } } : { error_code: 'by_complete' }),
        })
      case 'cancel':
        return post(`/runs/${run.id}/cancel`)
      case 'steps':
        return post(`/runs/${run.id}/steps`, { steps: op.steps })
      case 'ask':
        return post('/tools/http_fetch/invoke', { arguments: pageOf(op.call) })
      case 'renew':
        return post(`/runs/${run.id}/callback-token`)
    }
  }

  async #personToken(): Promise<string> {
    if (this.#now - this.#person.since > 11 * HOUR) {
      const { token } = await member(this.#platform.deps, this.#app.workspaceId, 'member')
      this.#person = { token, since: this.#now }
    }
    return this.#person.token
  }

  // — outgoing requests —

  async #outside(url: string, body: string): Promise<OutgoingResult> {
    if (!url.endsWith('/agent')) {
      this.#fetches += 1
      if (url.endsWith('/lost')) throw new Error('the worker died while fetching')
      return answer(200, 'the page')
    }
    this.#calls += 1
    const { run: sent, resume, callback } = JSON.parse(body)
    const run = this.#runOf(sent.id)
    const script = resume ? run.onResume : run.agent
    recordCall(run, resume?.step_id, this.#now)
    // An answer takes at least a millisecond.
    this.#tick()
    const meanwhile = MEANWHILE[script]
    if (meanwhile) {
      const real = await this.#request(run, meanwhile, callback.token)
      expect(short(real)).toBe(apply(this.#model, run, meanwhile, this.#now))
      this.#tick()
    }
    if (script.endsWith('succeeds')) {
      return answer(200, { status: 'succeeded', output: { by: 'answer' }, steps: [{}, {}] })
    }
    if (script === 'fails') return answer(200, { status: 'failed', error_code: 'by_answer', error_message: '' })
    if (script === 'garbage') return answer(200, 'hm')
    if (script === 'answers 500') return answer(500, '')
    if (script === 'unreachable') {
      return { kind: 'failure', phase: 'connect', sent: false, message: 'Refused.', hint: '', durationMs: 1 }
    }
    if (script.endsWith('worker lost')) throw new Error('the worker died while it waited for the agent')
    return answer(202, '')
  }

  // — workers and time —

  /** Puts written events on the bus. A death in between would only delay them until the sweep. */
  #relay(): Promise<unknown> {
    return this.#platform.deps.bus.put(this.#taken())
  }

  #taken(): OutboxEvent[] {
    const events = this.#platform.outbox.splice(0)
    return events
  }

  /**
   * Delivers at most `most` waiting messages in an order derived from the seed. Every third goes to two workers at
   * once.
   */
  async pump(seed: number, most = 500): Promise<void> {
    for (let handled = 0; handled < most; handled++) {
      await this.#relay()
      const { messages } = this.#platform
      const due = messages.filter(({ dueAt }) => dueAt <= this.#now)
      const message = due[(seed + handled * 7) % due.length]
      if (!message) return
      messages.splice(messages.indexOf(message), 1)
      this.#delivered.push(message)
      if (!(await this.#deliver(message, (seed + handled) % 3 === 0 ? 2 : 1))) messages.push(message)
    }
    if (most === 500) throw new Error('the platform doesn’t come to rest')
  }

  /** Redelivers a message that was handled long ago, twice at the same time. */
  async late(pick: number): Promise<void> {
    const old = this.#delivered.filter(({ queue }) => queue !== 'fanout')
    const message = old[pick % old.length]
    if (message) await this.#deliver(message, 2)
  }

  /** Drops events on their way to the bus and messages on their way to workers. */
  lose(): void {
    this.#taken()
    this.#platform.messages.length = 0
  }

  async #deliver(message: Message, times = 1): Promise<boolean> {
    const {
      event,
      detail = event,
      ...fields
    } = message.body as {
      event?: OutboxEvent
      detail?: OutboxEvent
      kind?: string
    }
    const type = detail?.type ?? fields.kind
    // Messages about an event name the run in its data, and others themselves. Those about people's notifications name none.
    const { run_id, step_id } = detail ? JSON.parse(detail.data) : (fields as { run_id?: string; step_id?: string })
    const run = this.#model.runs.find(({ id }) => id === run_id)
    const script =
      run && message.queue === 'dispatch'
        ? scriptOf(this.#model, run, type === 'run.created' ? undefined : step_id)
        : undefined
    const fetches = run && message.queue === 'approved-tools' ? handleApprovedCall(run, step_id, this.#now) : false
    this.#calls = 0
    this.#fetches = 0
    const handled = await Promise.all(Array.from({ length: times }, () => this.#platform.deliver(message)))
    expect([this.#calls, this.#fetches], `run.execute and fetches by ${type}`).toEqual([
      script ? 1 : 0,
      fetches ? 1 : 0,
    ])
    if (run && script) recordAnswer(this.#model, run, script, this.#now)
    if (run && message.queue !== 'fanout') await this.#compare(run)
    return handled.every(Boolean)
  }

  /** Lets time pass and sweeps in between, so that a long time isn't one jump. */
  async pass(ms: number): Promise<void> {
    const first = 61 * SECOND
    if (ms > first) await this.#sweepAfter(first)
    await this.#sweepAfter(ms > first ? ms - first : ms)
  }

  async #sweepAfter(ms: number): Promise<void> {
    this.#platform.clock.advance(ms)
    sweep(this.#model, this.#now)
    await this.#platform.sweep()
    for (const run of this.#model.runs.filter((run) => isActive(run) || this.#now === run.ended))
      await this.#compare(run)
  }

  // — invariants —

  #runOf(id: string): ModelRun {
    const run = this.#model.runs.find((one) => one.id === id)
    if (!run) throw new Error('an unknown run')
    return run
  }

  async #read(run: ModelRun) {
    const { status, body } = await this.#api('GET', `/runs/${run.id}`)
    expect(status).toBe(200)
    for (const approval of run.approvals) approval.id ??= body.steps.find(({ seq }: Step) => seq === approval.seq)?.id
    return {
      status: body.status,
      error_code: body.error_code,
      output: body.output,
      steps: body.steps.map(({ seq, type, status, tool }: Step) => ({ seq, type, status, tool })),
      started: body.started_at !== null,
      finished: body.finished_at !== null,
    }
  }

  /**
   * Compares the API's run with the model's, and checks that every active run has a due time or a pending approval, and one that
   * has ended has neither.
   */
  async #compare(run: ModelRun): Promise<void> {
    const { table } = this.#platform.deps
    const { id: installation_id } = this.#app.installation
    expect(await this.#read(run)).toEqual(view(run))
    const [record, counter] = await table.getAll([
      RunEntity.ref({ installation_id, id: run.id }),
      CounterEntity.ref({ owner: installation_id, counter: 'active_runs' }),
    ] as const)
    const pending = pendingOf(run)
    expect(record?.pending_step).toBe(pending?.id)
    const isDue = record?.due_at !== undefined
    if (isActive(run)) expect(isDue || pending !== undefined, 'the run has a due time or a pending approval').toBe(true)
    else expect(isDue, 'a run that has ended has no due time').toBe(false)
    const active = this.#model.runs.filter(isActive)
    expect(counter?.n ?? 0).toBe(active.length)
    expect((await listActiveRuns({ table }, installation_id)).sort()).toEqual(active.map(({ id }) => id).sort())
  }

  /** Lets everything come to rest without outside actions, then checks all counters, events and lists. */
  async rest(): Promise<void> {
    for (const ms of [61 * SECOND, 61 * SECOND, HOUR + SECOND, DAY, HOUR + SECOND, DAY, HOUR + SECOND]) {
      await this.pump(0)
      await this.pass(ms)
    }
    await this.pump(0)
    const { runs } = this.#model
    expect(runs.filter(isActive)).toEqual([])
    expect(await this.#platform.deps.table.due(this.#now + 400 * DAY, 50), 'nothing is due').toEqual([])
    for (const run of runs) {
      await this.#compare(run)
      expectNoGaps(run)
      this.#compareEvents(run)
    }
    await this.#compareFeed()
    await this.#compareMarks()
    await this.#compareLists()
  }

  #compareEvents(run: ModelRun): void {
    const emitted = this.#platform.emitted.filter(({ data }) => JSON.parse(data).run_id === run.id).map(nameOf)
    expectOrder(emitted)
    const without = run.events.filter((event) => !event.endsWith('?'))
    const withAll = run.events.map((event) => event.replace('?', ''))
    expect(emitted).toEqual(emitted.length === without.length ? without : withAll)
  }

  /** Checks that pollers see each event once, whatever was lost or redelivered. */
  async #compareFeed(): Promise<void> {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await this.#api('GET', `/events?limit=100${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.items.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor
    }
    const visible = this.#platform.emitted.filter(({ type }) => type.startsWith('run.'))
    expect(seen.sort()).toEqual(visible.map(({ id }) => id).sort())
  }

  /** Checks that the counter, which these runs need no marks besides, names the one that ended last. */
  async #compareMarks(): Promise<void> {
    const { table } = this.#platform.deps
    const { id: installation_id } = this.#app.installation
    expect((await table.query(ChainMarkEntity, { installation_id }, { limit: 1 })).items).toEqual([])
    const { active, last } = await loadRunsInSlots({ table }, installation_id)
    expect(active).toEqual([])
    const ended = this.#model.runs.filter((run) => run.ended === last?.ended_at).map(({ id }) => id)
    if (this.#model.runs.length > 0) expect(ended).toContain(last?.id)
    expect(last?.ended_at ?? 0).toBe(Math.max(0, ...this.#model.runs.map(({ ended }) => ended ?? 0)))
  }

  async #compareLists(): Promise<void> {
    for (const status of ['queued', 'running', 'awaiting_approval', 'succeeded', 'failed', 'cancelled']) {
      const { body } = await this.#api('GET', `/runs?status=${status}&limit=100`)
      const ids = this.#model.runs.filter((run) => run.status === status).map(({ id }) => id)
      expect(body.items.map(({ id }: { id: string }) => id).sort(), status).toEqual(ids.sort())
    }
  }
}

interface Step {
  id: string
  seq: number
  type: string
  status: string
  tool: string | null
}

const pageOf = (call: Call) => ({ url: `${PAGE}/${call}` })

/** Actions of an agent through the API between its call and its answer. */
const MEANWHILE: Partial<Record<Script, Op>> = {
  'completes, then succeeds': { kind: 'complete', status: 'failed', steps: [] },
  'completes, then accepts': { kind: 'complete', status: 'succeeded', steps: [{}] },
  'is cancelled, then succeeds': { kind: 'cancel' },
  'asks, then succeeds': { kind: 'ask', call: 'a' },
  'asks, then accepts': { kind: 'ask', call: 'b' },
  'reports, then worker lost': { kind: 'steps', steps: [{}] },
}

/** Shortens an answer to the model's form: its status and what distinguishes it from others with that status. */
const short = ({ status, body }: Answer): string => {
  const what = status >= 400 ? body.error.code : status === 201 && 'trigger' in body ? body.status : toolStatus(body)
  return what === undefined ? String(status) : `${status} ${what}`
}

const toolStatus = (body: Record<string, unknown>): unknown =>
  'id' in body || 'items' in body || 'expires_in' in body ? undefined : body.status

const nameOf = ({ type, data }: OutboxEvent): string =>
  type === 'run.resumed' ? `${type} ${JSON.parse(data).decision}` : type

const FINAL = new Set(['run.succeeded', 'run.failed', 'run.cancelled'])

/** Checks the order of events: created first, one end, last, and never more resumes than stops. */
const expectOrder = (emitted: readonly string[]): void => {
  expect(emitted[0]).toBe('run.created')
  expect(emitted.filter((event) => event === 'run.created' || FINAL.has(event))).toEqual([emitted[0], emitted.at(-1)])
  let stopped = 0
  for (const event of emitted) {
    if (event === 'run.awaiting_approval') stopped += 1
    if (event.startsWith('run.resumed')) stopped -= 1
    expect(stopped).toBeGreaterThanOrEqual(0)
  }
}

/** Checks that steps have no gaps, unless the agent chose numbers itself. */
const expectNoGaps = ({ steps, numbered }: ModelRun): void => {
  if (!numbered) expect(steps.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(steps.map((_, i) => i + 1))
}
