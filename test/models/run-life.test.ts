import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LIMITS } from '#shared/kernel/limits.ts'
import { startPlatform, type TestPlatform } from '#testkit/platform.ts'
import { DEEP, SEED } from '#testkit/sampling.ts'
import { commands } from './run-life/commands.ts'
import type { Model } from './run-life/model.ts'
import { World } from './run-life/world.ts'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.stop())

/** Small enough for sequences to reach. Another test, maybe in this process, checks the real limit of 200. */
const STEPS = 5
const { stepsPerRun } = LIMITS
beforeAll(() => void Object.assign(LIMITS, { stepsPerRun: STEPS }))
afterAll(() => void Object.assign(LIMITS, { stepsPerRun }))

/** Outcomes that sequences must keep reaching, so that a missing one is noticed. */
const EVERYTHING = [
  ...['succeeded', 'cancelled', 'agent_timeout', 'by_complete', 'executed', 'rejected', 'voided'],
  ...['ask 200 awaiting_approval', 'ask 200 ok', 'ask 200 rejected', 'ask 409 conflict'],
  ...['ask 409 run_already_finished', 'steps 201', 'steps 403 too_many_steps', 'complete 200'],
  ...['decide 200', 'decide 409 approval_already_decided', 'race 200', 'race 409 run_already_finished'],
]

const play = async (model: Model, script: Iterable<fc.AsyncCommand<Model, World>>): Promise<readonly string[]> => {
  try {
    const world = await World.create(platform, model)
    for (let i = 0; i < 2; i++) await world.start('accepts', 'accepts', undefined)
    await world.pump(0)
    await fc.asyncModelRun(() => ({ model, real: world }), script)
    await world.rest()
    return world.answers
  } catch (error) {
    // Leftovers of a failed sequence must not fail the shorter ones that are tried next.
    await platform.stop()
    platform = await startPlatform()
    throw error
  }
}

it('runs match the contract after any sequence of actions, and come to rest', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: 'max' }), fc.boolean(), async (script, resume) => {
      const model: Model = { runs: [], resume, stepsPerRun: STEPS }
      for (const answer of await play(model, script)) seen.add(answer)
      for (const { status, error_code, approvals } of model.runs) {
        seen.add(error_code ?? status)
        for (const approval of approvals) seen.add(approval.status)
      }
    }),
    // This seed is known to reach everything in 40 sequences.
    {
      numRuns: DEEP ? 40 : 5,
      seed: DEEP ? 20_261_121 : SEED,
      interruptAfterTimeLimit: 230_000,
      markInterruptAsFailure: true,
    },
  )
  if (DEEP) expect([...seen]).toEqual(expect.arrayContaining(EVERYTHING))
})
