import fc from 'fast-check'
import { expect, it } from 'vitest'
import { executeApprovedCall } from '#shared/agents/dispatch/approved-tool.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { callHash, decideApprovalByKey, requestApproval } from '#shared/work/approvals/approvals.ts'
import { addSteps } from '#shared/work/runs/add-steps.ts'
import { loadRun } from '#shared/work/runs/change.ts'
import { cancelRun, completeRun } from '#shared/work/runs/finish.ts'
import { loadRunWithSteps, readRun } from '#shared/work/runs/read.ts'
import type { StepView } from '#shared/work/runs/schemas.ts'
import { isOver, STREAM_START } from '#shared/work/runs/stream.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { readStream } from './run-stream-support.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })

const MOVES = [
  'step',
  'steps',
  'dies',
  'numbered',
  'ask',
  'approve',
  'reject',
  'execute',
  'complete',
  'cancel',
] as const
type Move = (typeof MOVES)[number]

let calls = 0

type Started = Awaited<ReturnType<typeof startedRun>>

/** Applies one move to a run, whether or not it is allowed. */
const make = async (move: Move, { decider, ...key }: Started): Promise<unknown> => {
  // As in a request without an Idempotency-Key.
  const work = { ...createWorkerWork(platform.deps), hasFreshIds: true }
  const step = (await loadRunWithSteps(work, key))[1].findLast(({ type }) => type === 'approval')?.id ?? 'stp_none'
  switch (move) {
    case 'step':
      return addSteps(work, key, [{ type: 'message', output: {} }])
    case 'steps':
      return addSteps(work, key, [
        { type: 'looking', output: { n: 1 } },
        { type: 'looking', output: { n: 2 } },
      ])
    case 'dies':
      return addSteps({ ...work, commit: () => Promise.reject(new Error('died')) }, key, [
        { type: 'lost', output: { n: 1 } },
        { type: 'lost', output: { n: 2 } },
      ])
    case 'numbered':
      return addSteps(work, key, [{ type: 'message', output: {}, seq: 1 + (calls++ % 30) }])
    case 'ask': {
      const args = { url: agent.url, headers: { n: String(calls++) } }
      return requestApproval(work, key, {
        tool: 'http_fetch',
        arguments: args,
        hash: callHash('http_fetch', args),
        request: undefined,
      })
    }
    case 'approve':
    case 'reject':
      return decideApprovalByKey(work, key, decider, step, { decision: move })
    case 'execute':
      return executeApprovedCall(work, key, step)
    case 'complete':
      return completeRun(work, key, { status: 'succeeded', output: {}, steps: [{ type: 'message', output: {} }] })
    case 'cancel':
      return cancelRun(work, key)
  }
}

const startedRun = async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const { id, name } = app.person.user
  const decider = { id, name, session_id: 'ses_0', policyVersion: () => '0'.repeat(64) }
  return { installation_id: app.installation.id, id: body.id as string, decider }
}

/** Concurrent moves, and the number of events that the reader takes before its connection is cut. */
const moment = fc.record({
  moves: fc.array(fc.constantFrom(...MOVES.slice(0, 8)), { minLength: 1, maxLength: 3 }),
  taken: fc.integer({ min: 0, max: 4 }),
})

it('a run’s events have ascending numbers, and a reader that is cut off anywhere sees every state and step', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(moment, { minLength: 1, maxLength: 12 }),
      fc.constantFrom('complete', 'cancel'),
      async (moments, end) => {
        const key = await startedRun()
        const ids: number[] = []
        const states: string[] = []
        const steps = new Map<string, StepView>()
        let after = STREAM_START
        const look = async (most: number): Promise<void> => {
          for (const { id, event, data } of await readStream(platform.deps, key, after, most)) {
            after = Number(id)
            ids.push(after)
            if (event === 'state') states.push((data as { status: string }).status)
            else steps.set((data as StepView).id, data as StepView)
          }
        }
        for (const { moves, taken } of moments) {
          await Promise.all([look(taken), ...moves.map((move) => make(move, key).catch(() => undefined))])
        }
        await make(end as Move, key)
        // An approved call may still find that its run has ended.
        await make('execute', key)
        while (!isOver(await loadRun(platform.deps, key), after)) await look(3)

        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
        const run = await loadRun(platform.deps, key)
        const [, kept] = await loadRunWithSteps(platform.deps, key)
        expect(kept.filter(({ type }) => type === 'lost')).toEqual([])
        expect(kept).toHaveLength(run.step_count)
        const numbers = [...kept.map((step) => step.stream_seq), ...(run.transitions ?? []).map(({ seq }) => seq)]
        expect(new Set(numbers).size).toBe(numbers.length)
        expect(Math.max(...numbers.map(Number))).toBe(run.stream_seq)
        expect(states).toEqual(run.transitions?.map(({ status }) => status))
        const view = await readRun(platform.deps, key)
        expect([...steps.values()].sort((a, b) => a.seq - b.seq)).toEqual(view.steps)
      },
    ),
    { numRuns: 25 },
  )
})

it('a result that arrives between another writer’s read and its write gets a number of its own', async () => {
  const key = await startedRun()
  const { step_id } = (await make('ask', key)) as { step_id: string }
  await make('approve', key)
  const work = createWorkerWork(platform.deps)
  let late = true
  const overtaken = {
    ...work,
    commit: async (...writes: Parameters<typeof work.commit>) => {
      if (late) {
        late = false
        await executeApprovedCall(work, key, step_id)
      }
      await work.commit(...writes)
    },
  }
  await addSteps(overtaken, key, [{ type: 'message', output: {} }])
  const [, steps] = await loadRunWithSteps(work, key)
  expect(steps.map(({ status, stream_seq }) => [status, stream_seq])).toEqual([
    ['executed', 7],
    ['done', 8],
  ])
})
