import { describe, expect, it } from 'vitest'
import { probeDuring, requireAll } from '#ops/prove/probe.ts'
import { prove, reportOf, type Step } from '#ops/prove/proof.ts'
import { usingReceiver } from '#testkit/using.ts'

const playing = async (steps: readonly Step[]) => {
  let clock = 0
  const told: string[] = []
  const proven = await prove(steps, {
    now: () => (clock += 1_500),
    onStep: ({ step, outcome }) => told.push(`${step}: ${outcome}`),
  })
  return { proven, told }
}

describe('a proof', () => {
  it('reports each step’s result and duration', async () => {
    const { proven, told } = await playing([{ name: 'It deploys', run: async () => '312 resources' }])
    expect(proven).toEqual([{ step: 'It deploys', outcome: 'done', seconds: 1.5, seen: '312 resources' }])
    expect(told).toEqual(['It deploys: done'])
  })

  it('tries nothing after a failed step, but removes what was created', async () => {
    const ran: string[] = []
    const step = (name: string, fails = false, always = false): Step => ({
      name,
      always,
      run: async () => {
        ran.push(name)
        if (fails) throw new Error('The stack is stuck')
        return name
      },
    })
    const { proven } = await playing([
      step('deploy'),
      step('travel', true),
      step('restore'),
      step('destroy', false, true),
    ])
    expect(ran).toEqual(['deploy', 'travel', 'destroy'])
    expect(proven.map(({ outcome }) => outcome)).toEqual(['done', 'failed', 'not tried', 'done'])
    expect(proven[1]?.seen).toBe('The stack is stuck')
    expect(proven[2]?.seen).toContain('travel')
  })

  it('says why a step can’t be tried here, and continues', async () => {
    const run = async () => 'seen'
    const { proven } = await playing([
      { name: 'rollback', unavailable: 'No CodeDeploy here.', run },
      { name: 'rotate', run },
    ])
    expect(proven.map(({ outcome, seen }) => [outcome, seen])).toEqual([
      ['not tried', 'No CodeDeploy here.'],
      ['done', 'seen'],
    ])
  })

  it('is a table in Markdown that an error of several lines doesn’t break', async () => {
    const { proven } = await playing([
      { name: 'It deploys', run: () => Promise.reject(new Error('cdk ended with 1:\n| a | table |\nthe end')) },
    ])
    const about = { stage: 'sandbox', account: '1', region: 'eu-west-1', began: new Date(0), settings: { edge: true } }
    const lines = reportOf(proven, about).split('\n')
    expect(lines).toContain('| It deploys | failed | 2 | cdk ended with 1:<br>\\| a \\| table \\|<br>the end |')
    expect(lines.join('\n')).toContain('`edge=true`')
  })
})

describe('the probe during a deployment', () => {
  const receiver = usingReceiver({ kind: 'answer', status: 200 })

  it('reports a single failed request among good ones', async () => {
    receiver.next({ kind: 'answer', status: 200 }, { kind: 'answer', status: 502 })
    const { result, probed } = await probeDuring(receiver.url, async () => {
      await receiver.received(3)
      return 'deployed'
    })
    expect([result, probed.failures]).toEqual(['deployed', ['502']])
    expect(() => requireAll(probed)).toThrow('1 of 3 requests failed meanwhile: 502')
  })

  it('ends with the work, even if that fails', async () => {
    await expect(probeDuring(receiver.url, () => Promise.reject(new Error('stuck')))).rejects.toThrow('stuck')
    const { length } = receiver.requests
    expect(requireAll({ requests: length, failures: [] })).toContain('none failed')
  })
})
