import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { proofCosts } from '#ops/prove/costs.ts'
import { probeDuring, requireAll } from '#ops/prove/probe.ts'
import { prove, reportOf, type Step } from '#ops/prove/proof.ts'
import { ProvedStage } from '#ops/prove/stage.ts'
import { usingReceiver } from '#testkit/using.ts'
import { type MadeUpAccount, type MadeUpStack, serveAccount } from './accounts.ts'

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

describe('the stage of a proof', () => {
  const served = async <T>(stacks: Record<string, MadeUpStack>, work: (stage: ProvedStage) => Promise<T>) => {
    const account: MadeUpAccount = { id: '1', executions: {}, bootstrapped: [], stacks }
    const { url, close } = await serveAccount(account)
    for (const [name, value] of Object.entries({
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'made-up',
      AWS_SECRET_ACCESS_KEY: 'made-up',
    }))
      vi.stubEnv(name, value)
    try {
      const context = { stage: 'sandbox', retainData: false }
      return { result: await work(new ProvedStage({ context, env: process.env, folder: '' })), account }
    } finally {
      vi.unstubAllEnvs()
      await close()
    }
  }
  const stack = (tags: Record<string, string> = { proof: 'true' }) => ({
    status: 'CREATE_COMPLETE',
    protected: false,
    tags,
  })

  it('is known by its tag, so that no other stage is taken for one, and one stack of another is enough', async () => {
    const left = (stacks: Record<string, MadeUpStack>) => served(stacks, (stage) => stage.leftByProof())
    expect((await left({ 'Platform-prod-Data': stack() })).result).toBeUndefined()
    expect((await left({ 'Platform-sandbox-Data': stack() })).result).toBe(true)
    expect((await left({ 'Platform-sandbox-Data': stack({ stage: 'sandbox' }) })).result).toBe(false)
    const mixed = { 'Platform-sandbox-Data': stack({}), 'Platform-sandbox-Service': stack() }
    expect((await left(mixed)).result).toBe(false)
  })

  it('is destroyed without bundles and templates, and what reads from another stack goes before it', async () => {
    const stacks = Object.fromEntries(
      ['Data', 'Service', 'Operations'].map((kind) => [`Platform-sandbox-${kind}`, stack()]),
    )
    const { result, account } = await served({ ...stacks, 'Platform-prod-Data': stack() }, (stage) => stage.destroy())
    expect(result).toBe('no stack is left')
    expect(account.deleted).toEqual(['Operations', 'Service', 'Data'].map((kind) => `Platform-sandbox-${kind}`))
    expect(Object.keys(account.stacks ?? {})).toEqual(['Platform-prod-Data'])
  })

  it('costs cents for its hours, and less than two dollars a day if it stays', async () => {
    const { proof, day } = await proofCosts()
    expect(proof).toBeGreaterThan(0.1)
    expect(proof).toBeLessThan(1)
    expect(day).toBeGreaterThan(proof)
    expect(day).toBeLessThan(2)
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

  it('reports an answer that breaks off, and goes on', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half', () => request.socket.destroy())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const twice = () =>
      new Promise<string>((resolve) => {
        let seen = 0
        server.on('request', () => ++seen === 2 && resolve('deployed'))
      })
    const { result, probed } = await probeDuring(`http://127.0.0.1:${port}`, twice)
    server.close()
    expect(result).toBe('deployed')
    expect(probed.failures.length).toBe(probed.requests)
  })

  it('ends with the work, even if that fails', async () => {
    await expect(probeDuring(receiver.url, () => Promise.reject(new Error('stuck')))).rejects.toThrow('stuck')
    const { length } = receiver.requests
    expect(requireAll({ requests: length, failures: [] })).toContain('none failed')
  })
})
