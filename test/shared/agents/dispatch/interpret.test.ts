import { describe, expect, it } from 'vitest'
import { interpretAnswer } from '#shared/agents/dispatch/interpret.ts'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'

const answered = (status: number, body: unknown): OutgoingResult =>
  ({
    kind: 'answer',
    status,
    headers: {},
    body: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
    truncated: false,
    durationMs: 1,
  }) as unknown as OutgoingResult

/** Words of the validator that mean nothing to the author of an agent. */
const INTERNALS = /expected|received|invalid input|record|undefined|union/i

describe('an agent’s answer that isn’t one is explained in the words of the contract', () => {
  it.each([
    [{}, '`status` must be "succeeded" or "failed".'],
    [{ status: 'done' }, '`status` must be "succeeded" or "failed".'],
    [{ status: 'succeeded', output: 'hello' }, '`output` must be a JSON object.'],
    [{ status: 'succeeded', output: [1] }, '`output` must be a JSON object.'],
    [{ status: 'succeeded', steps: {} }, '`steps` must be a list of steps, each {type, output}.'],
    [{ status: 'succeeded', steps: [{ type: 5 }] }, '`steps.0.type` must be a text of 1 to 60 characters.'],
    [{ status: 'succeeded', cost_units: -1 }, '`cost_units` must be a number from 0.'],
    [{ status: 'failed', error_message: 5 }, '`error_message` must be a text.'],
    ['[1]', 'it must be a JSON object.'],
    ['"ok"', 'it must be a JSON object.'],
  ])('%j', (body, explanation) => {
    const effect = interpretAnswer(answered(200, body))
    expect(effect).toEqual({
      kind: 'failed',
      error_code: 'agent_invalid_response',
      error_message: `The agent’s answer is unusable: ${explanation}`,
    })
    expect(explanation).not.toMatch(INTERNALS)
  })

  it.each([401, 403])('HTTP %i asks about the signing secret', (status) => {
    expect(interpretAnswer(answered(status, ''))).toMatchObject({
      error_code: 'agent_unreachable',
      error_message: expect.stringContaining('signing secret of this app'),
    })
  })
})
