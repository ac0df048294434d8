import fc from 'fast-check'
import { DAY, HOUR, SECOND } from '#shared/kernel/clock.ts'
import { CALLS, isActive, type Model, type ModelRun, type Op, pendingOf, SCRIPTS } from './model.ts'
import type { World } from './world.ts'

type Command = fc.AsyncCommand<Model, World>

/** A command with a description for failed sequences. */
const command = (what: string, run: (model: Model, world: World) => Promise<unknown> | unknown): Command => ({
  check: () => true,
  run: async (model, world) => void (await run(model, world)),
  toString: () => what,
})

/** Picks an active run three out of four times, if any exists. Prefers the oldest, so that it gets far. */
const picked = ({ runs }: Model, pick: number, op: Op): ModelRun | undefined => {
  const waiting = op.kind === 'decide' && op.which === undefined ? runs.find(pendingOf) : undefined
  if (waiting) return waiting
  const active = pick % 4 === 3 ? [] : runs.filter(isActive)
  const from = active.length > 0 ? active : runs
  return pick % 3 > 0 ? from[0] : from[(pick >> 2) % from.length]
}

const step = fc.record({ seq: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined, freq: 8 }) })
const steps = fc.array(step, { minLength: 1, maxLength: 5 })

const decide = fc.record({
  kind: fc.constant('decide' as const),
  // Mostly decides the pending approval.
  which: fc.option(fc.nat(2), { nil: undefined, freq: 1 }),
  decision: fc.constantFrom('approve' as const, 'approve' as const, 'reject' as const),
})

/** Prefers an agent that accepts, which most actions on a run need. */
const script = fc.oneof(
  { weight: 1, arbitrary: fc.constant('accepts' as const) },
  { weight: 3, arbitrary: fc.constantFrom(...SCRIPTS) },
)

const ask = fc.record({ kind: fc.constant('ask' as const), call: fc.constantFrom('a' as const, ...CALLS) })

const op = fc.oneof(
  { weight: 5, arbitrary: ask },
  { weight: 5, arbitrary: decide },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('steps' as const), steps }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('complete' as const),
      status: fc.constantFrom('succeeded' as const, 'failed' as const),
      steps: fc.array(step, { maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renew' as const) }) },
)

const seed = fc.nat(1_000)
const key = fc.option(fc.nat(2), { nil: undefined, freq: 3 })

/** A resumed agent gets the result of its decided call. Asking again would wait for a call that is being executed. */
const onResume = fc.constantFrom('succeeds', 'fails', 'accepts', 'accepts', 'worker lost', 'completes, then accepts')

let keys = 0

/** All actions on the runs of an installation. */
export const commands = [
  fc
    .tuple(script, onResume, key)
    .map(([agent, resumed, key]) =>
      command(`start(${agent}; on resume ${resumed}; key ${key})`, (_, world) =>
        world.start(agent, resumed, key === undefined ? undefined : `start-${key}`),
      ),
    ),
  ...Array.from({ length: 3 }, () =>
    fc.tuple(op, seed, fc.boolean()).map(([op, pick, twice]) =>
      command(`do(${JSON.stringify(op)}, run ${pick}${twice ? ', twice' : ''})`, (model, world) => {
        const run = picked(model, pick, op)
        return run && world.do(run, op, twice ? `key-${keys++}` : undefined)
      }),
    ),
  ),
  // The whole course of a dangerous call at once, which chance seldom produces.
  fc.tuple(ask, decide, seed).map(([asked, decided, pick]) =>
    command(`ask(${asked.call}), ${decided.decision}, pump, ask, run ${pick}`, async (model, world) => {
      const run = picked(model, pick, asked)
      if (!run) return
      await world.do(run, asked, undefined)
      await world.do(run, decided, undefined)
      await world.pump(pick)
      await world.do(run, asked, undefined)
    }),
  ),
  fc.tuple(op, op, seed).map(([one, other, pick]) =>
    command(`race(${JSON.stringify([one, other])}, run ${pick})`, (model, world) => {
      const run = picked(model, pick, one.kind === 'decide' ? one : other)
      return run && world.race(run, one, other)
    }),
  ),
  ...Array.from({ length: 2 }, () =>
    fc
      .tuple(seed, fc.constantFrom(2, 500, 500, 500))
      .map(([order, most]) =>
        command(`pump(${order}, ${most})`, (_, world) => (most === 2 ? world.pump(order, 2) : world.pump(order))),
      ),
  ),
  seed.map((pick) => command(`late(${pick})`, (_, world) => world.late(pick))),
  fc.constant(command('lose()', (_, world) => world.lose())),
  fc

    .constantFrom(
      SECOND,
      10 * SECOND,
      10 * SECOND,
      46 * SECOND,
      61 * SECOND,
      61 * SECOND,
      HOUR / 2,
      HOUR + SECOND,
      DAY + SECOND,
    )
    .map((ms) => command(`pass(${ms / SECOND} s)`, (_, world) => world.pass(ms))),
]
