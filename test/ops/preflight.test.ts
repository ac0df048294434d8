import { describe, expect, it, vi } from 'vitest'
import type { Account } from '#ops/preflight/account.ts'
import { checkAccount } from '#ops/preflight/checks.ts'
import { asTable } from '#ops/preflight/run.ts'
import { readStage } from '#ops/stage.ts'

const ARN = 'arn:aws:acm:us-east-1:123456789012:certificate/1'

/** An account in which everything is ready. */
const ready: Account = {
  id: '123456789012',
  region: 'us-east-1',
  concurrency: async () => ({ limit: 3_000, unreserved: 3_000 }),
  bootstrapVersion: async () => 30,
  certificate: async () => ({ status: 'ISSUED', names: ['*.example.com'] }),
  quota: async () => 10_000,
  hasRole: async () => true,
  gatewayLogRole: async () => undefined,
  stack: async () => undefined,
  mailIdentity: async () => true,
  mailsAnybody: async () => true,
  key: async () => undefined,
}

const found = (settings: Record<string, string>, account: Partial<Account> = {}) =>
  checkAccount(readStage({ stage: 'prod', mailFrom: 'platform@example.com', ...settings }), { ...ready, ...account })

const domain = { domainName: 'api.example.com', certificateArn: ARN }

describe('the check before a deployment', () => {
  it('finds nothing in an account that is ready', async () => {
    expect(await found(domain)).toEqual([])
  })

  it('stops a new account with 10 concurrent executions, and says how to get more', async () => {
    const [finding] = await found({}, { concurrency: async () => ({ limit: 10, unreserved: 10 }) })
    expect(finding).toMatchObject({
      level: 'error',
      what: expect.stringContaining('allows 10 concurrent executions in us-east-1'),
      fix: expect.stringMatching(
        /^aws service-quotas request-service-quota-increase .*L-B99A9384 --desired-value 1\d{3}/,
      ),
    })
    const none = await found(
      { reservedConcurrency: '{}' },
      { concurrency: async () => ({ limit: 10, unreserved: 10 }) },
    )
    expect(none.map(({ level }) => level)).toEqual(['warning'])
  })

  it('stops a stage whose reservations don’t fit with those of others, unless the stage already has them', async () => {
    const concurrency = async () => ({ limit: 3_000, unreserved: 200 })
    expect((await found({}, { concurrency }))[0]?.what).toContain('200 of 3000 are left')
    const stack = async () => ({ status: 'UPDATE_COMPLETE', protected: false })
    expect(await found({}, { concurrency, stack })).toEqual([])
  })

  it('names every region that isn’t bootstrapped; with the edge, us-east-1 is one', async () => {
    vi.stubEnv('AWS_REGION', 'eu-central-1')
    const findings = await found(
      { edge: 'true', waf: 'false' },
      { region: 'eu-central-1', bootstrapVersion: async (region) => (region === 'eu-central-1' ? 5 : undefined) },
    )
    expect(findings.filter(({ level }) => level === 'error').map(({ fix }) => fix)).toEqual([
      'npx cdk bootstrap aws://123456789012/eu-central-1',
      'npx cdk bootstrap aws://123456789012/us-east-1',
    ])
  })

  it.each<[string, Partial<Account>, RegExp]>([
    ['in another region', { region: 'eu-central-1' }, /is in us-east-1, and it must be in eu-central-1/],
    ['that doesn’t exist', { certificate: async () => undefined }, /doesn't exist/],
    [
      'that isn’t issued',
      { certificate: async () => ({ status: 'PENDING_VALIDATION', names: ['api.example.com'] }) },
      /PENDING_VALIDATION/,
    ],
    [
      'for another domain',
      { certificate: async () => ({ status: 'ISSUED', names: ['*.example.org'] }) },
      /and not for api\.example\.com/,
    ],
  ])('stops a certificate %s', async (_, account, message) => {
    const errors = (await found(domain, account)).filter(({ level }) => level === 'error')
    expect(errors.map(({ what }) => what).join()).toMatch(message)
  })

  it('stops a throttle above the account’s quota', async () => {
    const [finding] = await found({ throttle: '{"rate":20000,"burst":5000}' })
    expect(finding?.what).toContain('20000 requests a second, and the account')
  })

  it('takes a sender whose address or whose domain is verified, and stops one that SES doesn’t know', async () => {
    const knows = (identity: string, verified: boolean) => async (asked: string) =>
      asked === identity ? verified : undefined
    expect(await found({}, { mailIdentity: knows('platform@example.com', true) })).toEqual([])
    expect(await found({}, { mailIdentity: knows('example.com', true) })).toEqual([])
    const [unknown] = await found({}, { mailIdentity: async () => undefined })
    expect(unknown).toMatchObject({ level: 'error', fix: expect.stringContaining('create-email-identity') })
    const [pending] = await found({}, { mailIdentity: knows('platform@example.com', false) })
    expect(pending?.fix).toBe('aws sesv2 get-email-identity --region us-east-1 --email-identity platform@example.com')
  })

  it('names the command that frees a stack from a state that no deployment gets out of', async () => {
    const inState = (status: string, isProtected: boolean) =>
      found({}, { stack: async (name) => (name.endsWith('-Data') ? { status, protected: isProtected } : undefined) })
    expect((await inState('UPDATE_ROLLBACK_FAILED', true))[0]?.fix).toBe(
      'aws cloudformation continue-update-rollback --region us-east-1 --stack-name Platform-prod-Data',
    )
    expect((await inState('ROLLBACK_COMPLETE', true))[0]?.fix).toContain('--no-enable-termination-protection')
    expect(await inState('ROLLBACK_COMPLETE', false)).toEqual([])
    expect(await inState('UPDATE_COMPLETE', true)).toEqual([])
  })

  it('warns of what will change for others, and of roles that AWS has to create', async () => {
    const findings = await found(
      { backup: 'true' },
      { gatewayLogRole: async () => 'arn:aws:iam::123456789012:role/others', hasRole: async () => false },
    )
    expect(findings.map(({ level }) => level)).toEqual(['warning', 'warning'])
    expect(asTable(findings)).toContain('aws iam create-service-linked-role --aws-service-name backup.amazonaws.com')
  })
})
