import { expect, it } from 'vitest'
import { SideProcess, verify } from '#bench/oauth/process.ts'
import { OPERATIONS } from '#bench/oauth/side.ts'
import { cpuRatio, type OauthUse, oauthTables } from '#bench/oauth.ts'

const use = (side: string, cpus: number[]): OauthUse => ({
  operation: 'refresh_token',
  side,
  blocks: cpus.map((cpu) => ({ cpu: cpu * 10, requests: 10, calls: 50, reads: 40, writes: 20, latencies: [1, 2, 3] })),
})

it('compares blocks that stood next to each other, so that a slow minute of the machine is in both', () => {
  expect(cpuRatio(use('a', [100, 1_000, 100]), use('b', [200, 2_000, 100]))).toBe(0.5)
})

it('shows each side, and how ours stands to every other', () => {
  const [table] = oauthTables([use('this platform', [100, 110, 120]), use('theirs', [200, 220, 240])])
  expect(table?.rows).toEqual([
    ['a refresh token', 'this platform', '110', '10', '', '2.00', '3.00', '5.0', '4.0', '2.0'],
    ['a refresh token', 'theirs', '220', '20', '0.50', '2.00', '3.00', '5.0', '4.0', '2.0'],
  ])
})

it('counts no answer that is not complete', () => {
  expect(() => verify('introspection', { status: 200, text: '{"active":false}' })).toThrow('introspection')
  expect(() => verify('refresh_token', { status: 200, text: '{"access_token":"a"}' })).toThrow('refresh_token')
  expect(() => verify('refresh_token', { status: 429, text: '{"error":{}}' })).toThrow('429')
  verify('refresh_token', { status: 200, text: '{"access_token":"a","refresh_token":"r"}' })
})

it.each([
  ['platform.ts', 'ours', OPERATIONS],
  ['oidc-provider.ts', 'opaque', OPERATIONS],
  ['oidc-provider.ts', 'jwt', ['authorization_code', 'refresh_token'] as const],
])('%s (%s) answers every request that is measured', async (file, variant, operations) => {
  const side = await SideProcess.start(file, [variant])
  try {
    for (const operation of operations) {
      const { requests, calls, cpu, latencies } = await side.block(operation, 3)
      expect(latencies.length).toBe(requests)
      expect(calls / requests).toBe(Math.round(calls / requests))
      expect(cpu).toBeGreaterThan(0)
    }
  } finally {
    await side.close()
  }
})

it('says why a side does not start', async () => {
  await expect(SideProcess.start('nobody.ts', [])).rejects.toThrow('Cannot find module')
})
