import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { decodeProtectedHeader } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { reseal } from '#infra/keys/reseal.ts'
import { readRing } from '#infra/keys/ring.ts'
import { RINGS, type RingName } from '#infra/keys/rings.ts'
import { describeRing, type Operation, type Reseal, resealAll, retire, rotate, WAIT } from '#infra/keys/rotate.ts'
import { ringStore } from '#infra/keys/secret.ts'
import { AwsError } from '#local/aws/error.ts'
import { createKeys, KEYS_FRESH } from '#shared/adapters/secrets.ts'
import { signingSecretRecord } from '#shared/domain/runs/execute-request.ts'
import { issueToken } from '#shared/domain/tokens/tokens.ts'
import { AppEntity } from '#shared/entities/apps.ts'
import { InstallationEntity } from '#shared/entities/installations.ts'
import { seal, unseal } from '#shared/kernel/sealed.ts'
import { startServices } from '#test/local/services.ts'
import { temporaryFolder } from '#test/local/support.ts'
import { runCommand } from '#test/support/command.ts'
import { installed, member } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'

const place = temporaryFolder()
const platform = usingPlatform()
let services: Awaited<ReturnType<typeof startServices>>
/** Each test has rings of its own. */
let unique = 0
let said: string[]

const names = (): RingName[] => ['tokens', 'admin', 'data']
const arnOf = (ring: RingName) => `arn:aws:secretsmanager:us-east-1:000000000000:secret:${ring}-${unique}`
const generate = { SecretStringTemplate: '{"current":"k1"}', GenerateStringKey: 'k1', PasswordLength: 64 }

beforeAll(async () => {
  const secrets = Array.from({ length: 20 }, (_, n) =>
    names().map((ring) => ({
      name: `${ring}-${n + 1}`,
      arn: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${ring}-${n + 1}`,
      generate: { ...generate, ExcludePunctuation: true },
      value: undefined,
    })),
  ).flat()
  services = await startServices({ dataDir: place.folder, secrets, now: () => platform.clock.now() })
})
afterAll(async () => {
  await services.stop()
  place.remove()
})
beforeEach(() => {
  unique += 1
  said = []
  platform.deps.keys = instance()
})
afterEach(() => services.onAwsCall(undefined))

/** The keyrings as one function instance knows them. */
const instance = () => {
  const arns = { tokens: arnOf('tokens'), admin: arnOf('admin'), data: arnOf('data') }
  return createKeys(arns, platform.clock, async (SecretId) => {
    const { SecretString = '' } = await services.secrets.send(new GetSecretValueCommand({ SecretId }))
    return SecretString
  })
}

const operation = (ring: RingName, given: Partial<Operation> = {}): Operation => ({
  ring,
  store: ringStore(services.secrets, arnOf(ring)),
  clock: platform.clock,
  sleep: async (ms) => platform.clock.advance(ms),
  say: (line) => said.push(line),
  ...given,
})
const textOf = async (ring: RingName, VersionStage = 'AWSCURRENT') =>
  (await services.secrets.send(new GetSecretValueCommand({ SecretId: arnOf(ring), VersionStage }))).SecretString ?? ''
const stateOf = async (ring: RingName) => readRing(await textOf(ring))
const walk: Reseal = (text, options) =>
  reseal({ client: platform.store.client as DynamoDBClient, tableName: platform.tableName }, text, options)
const noWalk: Reseal = () => Promise.reject(new Error('tokens are not in the table'))
const kidOf = (token: string) => decodeProtectedHeader(token).kid
const me = async (token: string) => (await platform.call('GET', '/api/v1/me', { token })).status

describe('npm run keys -- rotate', () => {
  it('adds the key first, uses it only after every function has read it, and signs nobody out', async () => {
    const app = await installed(platform.deps)
    const person = await member(platform.deps, app.workspaceId, 'owner')
    expect([kidOf(app.token), kidOf(person.token)]).toEqual(['k1', 'k1'])
    const waited: number[] = []
    await rotate(
      operation('tokens', {
        sleep: async (ms) => {
          waited.push(ms)
          expect(await stateOf('tokens')).toEqual({ current: 'k1', next: 'k2', old: [] })
          platform.clock.advance(ms)
        },
      }),
    )
    expect(waited).toEqual([WAIT])
    expect(WAIT).toBeGreaterThan(KEYS_FRESH)
    expect(await stateOf('tokens')).toEqual({ current: 'k2', next: undefined, old: ['k1'] })
    platform.clock.advance(KEYS_FRESH)
    const { token } = await installed(platform.deps)
    expect(kidOf(token)).toBe('k2')
    expect([await me(token), await me(app.token)]).toEqual([200, 200])
    const session = await platform.call('GET', '/console/me', { token: person.token })
    expect(session.status).toBe(200)
    // The way back of Secrets Manager's own.
    expect(readRing(await textOf('tokens', 'AWSPREVIOUS'))).toEqual({ current: 'k1', next: 'k2', old: [] })
  })

  it('does not keep a function that runs since before from taking a token of the new key', async () => {
    const before = instance()
    await before.tokens()
    platform.clock.advance(31_000)
    await rotate(operation('tokens'), { now: true })
    platform.deps.keys = instance()
    const { token } = await installed(platform.deps)
    expect(kidOf(token)).toBe('k2')
    platform.deps.keys = before
    expect((await before.tokens()).currentId).toBe('k1')
    expect(await me(token)).toBe(200)
  })

  it('goes on where it was stopped, and makes no second key for being asked twice', async () => {
    const stopped = operation('tokens', { sleep: () => Promise.reject(new Error('stopped')) })
    await expect(rotate(stopped)).rejects.toThrow('stopped')
    platform.clock.advance(WAIT - 60_000)
    const waited: number[] = []
    const again = operation('tokens', { sleep: async (ms) => void waited.push(ms) })
    await rotate(again)
    expect(waited).toEqual([60_000])
    expect(await stateOf('tokens')).toEqual({ current: 'k2', next: undefined, old: ['k1'] })
    await rotate(again)
    expect(said.at(-1)).toMatch(/^k2 is in use since .* Give --again/)
    await rotate(again, { again: true, now: true })
    expect(await stateOf('tokens')).toEqual({ current: 'k3', next: undefined, old: ['k1', 'k2'] })
  })

  it('of two operators at once one is told, nothing of the other is lost, and both may go on', async () => {
    const results = await Promise.allSettled([
      rotate(operation('tokens'), { now: true }),
      rotate(operation('tokens'), { now: true }),
    ])
    const refused = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    for (const reason of refused) expect(reason).toContain('at the same time')
    expect(refused.length).toBeLessThan(2)
    await rotate(operation('tokens'), { now: true })
    expect(await stateOf('tokens')).toEqual({ current: 'k2', next: undefined, old: ['k1'] })
  })

  it('does not undo a change that comes between its reading and its writing', async () => {
    const theirs = JSON.stringify({ ...JSON.parse(await textOf('tokens')), k7: 'x'.repeat(64) })
    services.onAwsCall(async ({ operation: name, input, phase }) => {
      if (name !== 'PutSecretValue' || phase !== 'before' || !input.VersionStages) return
      services.onAwsCall(undefined)
      await services.secrets.send(new PutSecretValueCommand({ SecretId: arnOf('tokens'), SecretString: theirs }))
    })
    await expect(rotate(operation('tokens'))).rejects.toThrow('at the same time. Run the command again')
    expect(await textOf('tokens')).toBe(theirs)
  })

  it('takes a lost answer for what it is', async () => {
    services.onAwsCall(({ operation: name, input, phase }) => {
      if (name !== 'UpdateSecretVersionStage' || phase !== 'after' || input.VersionStage !== 'AWSCURRENT') return
      throw new AwsError('InternalServiceError', 'The answer is lost.', 500)
    })
    await rotate(operation('tokens'))
    expect(await stateOf('tokens')).toEqual({ current: 'k2', next: undefined, old: ['k1'] })
  })
})

describe('npm run keys -- retire', () => {
  it.each(['tokens', 'admin'] as const)(
    'of %s refuses while a token may live, and ends the old keys after that',
    async (ring) => {
      const { token } = await installed(platform.deps)
      await rotate(operation(ring))
      platform.clock.advance(RINGS[ring].life - 1)
      await expect(retire(operation(ring), noWalk)).rejects.toThrow(/k1 may still be needed by a token until/)
      platform.clock.advance(1)
      await retire(operation(ring), noWalk)
      expect(await stateOf(ring)).toEqual({ current: 'k2', next: undefined, old: [] })
      platform.clock.advance(KEYS_FRESH)
      if (ring === 'tokens') expect(await me(token)).toBe(401)
      await retire(operation(ring), noWalk)
      expect(said.at(-1)).toContain('nothing to retire')
    },
  )

  it('with --leaked refuses tokens of the old key at once, though they have not ended', async () => {
    const { app, installation, grant, token } = await installed(platform.deps)
    await rotate(operation('tokens'), { now: true })
    await retire(operation('tokens'), noWalk, { leaked: true })
    platform.deps.keys = instance()
    expect(await me(token)).toBe(401)
    const claims = { ins: installation.id, ws: installation.workspace_id, app: app.id, grt: grant.id, sv: 1 }
    expect(await me((await issueToken(platform.deps, 'access', claims)).token)).toBe(200)
  })

  it('leaves a key alone that is added and not in use yet', async () => {
    await expect(rotate(operation('tokens', { sleep: () => Promise.reject(new Error('stopped')) }))).rejects.toThrow(
      'stopped',
    )
    await retire(operation('tokens'), noWalk, { leaked: true })
    expect(await stateOf('tokens')).toEqual({ current: 'k1', next: 'k2', old: [] })
  })
})

describe('the ring of data at rest', () => {
  const SETTINGS = 'settings-of-the-tests'

  /** An app with two signing secrets, and an installation with sealed settings and a text that only looks sealed. */
  const sealedRecords = async () => {
    const { app, installation, signingSecret } = await installed(platform.deps)
    const installationKey = { workspace_id: installation.workspace_id, id: installation.id }
    const ring = await platform.deps.keys.data()
    const [, forged = ''] = (await seal(ring, 'another record', 'x')).split('..')
    const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid: 'k1', rec: SETTINGS }))
    const lookalike = `${header.toString('base64url')}..${forged}`
    const older = await seal(ring, signingSecretRecord(app.id), 'agsec_older')
    await platform.deps.table.transact([
      AppEntity.update(
        { id: app.id },
        { set: { signing_secrets: [...app.signing_secrets, { value: older }], summary: lookalike } },
      ),
      InstallationEntity.update(installationKey, {
        set: { settings: await seal(ring, SETTINGS, '{"language":"en"}') },
      }),
    ])
    const read = async () => {
      const [record, of] = await platform.deps.table.getAll([
        { entity: AppEntity, key: AppEntity.key({ id: app.id }) },
        { entity: InstallationEntity, key: InstallationEntity.key(installationKey) },
      ])
      const now = await instance().data()
      const secrets = (record?.signing_secrets ?? []).map(({ value }) => value)
      return {
        kids: [...secrets, of?.settings ?? ''].map(kidOf),
        plain: await Promise.all([
          ...secrets.map((value) => unseal(now, signingSecretRecord(app.id), value)),
          unseal(now, SETTINGS, of?.settings ?? ''),
        ]),
        summary: record?.summary,
      }
    }
    return { read, plain: [signingSecret, 'agsec_older', '{"language":"en"}'], lookalike }
  }

  it('opens what older keys sealed; reseal encrypts all of it anew, whatever record it is in, and nothing that only looks sealed', async () => {
    const { read, plain, lookalike } = await sealedRecords()
    await rotate(operation('data'))
    expect(await read()).toEqual({ kids: ['k1', 'k1', 'k1'], plain, summary: lookalike })
    await expect(retire(operation('data'), walk, { leaked: true })).rejects.toThrow(
      /\d+ values are encrypted with the old/,
    )
    await resealAll(operation('data'), walk)
    expect(said.at(-1)).toMatch(/^\d+ values in \d+ items are encrypted anew with k2\.$/)
    expect(await read()).toEqual({ kids: ['k2', 'k2', 'k2'], plain, summary: lookalike })
  })

  it('keeps an old key as long as a backup needs it, counted from the last value that was encrypted anew', async () => {
    const { read, plain } = await sealedRecords()
    await rotate(operation('data'))
    platform.clock.advance(RINGS.data.life)
    await resealAll(operation('data'), walk)
    await expect(retire(operation('data'), walk)).rejects.toThrow(/k1 may still be needed by a restored table until/)
    platform.clock.advance(RINGS.data.life)
    // Nothing is left to do: no new version, so the time counts on.
    await resealAll(operation('data'), walk)
    await retire(operation('data'), walk)
    expect(await stateOf('data')).toEqual({ current: 'k2', next: undefined, old: [] })
    expect((await read()).plain).toEqual(plain)
  })

  it('leaves a value to whoever changes it during the walk', async () => {
    const { read } = await sealedRecords()
    await rotate(operation('data'))
    const client = platform.store.client as DynamoDBClient
    const text = await textOf('data')
    const send = client.send.bind(client)
    let changed = 0
    vi.spyOn(client, 'send').mockImplementation((async (command: { constructor: { name: string }; input: never }) => {
      if (command.constructor.name === 'UpdateItemCommand' && changed++ === 0) {
        const { Key, TableName } = command.input as { Key: Record<string, { S: string }>; TableName: string }
        const { UpdateItemCommand } = await import('@aws-sdk/client-dynamodb')
        const input = { Key, TableName, UpdateExpression: 'SET settings = :s, signing_secrets = :s' }
        await send(new UpdateItemCommand({ ...input, ExpressionAttributeValues: { ':s': { S: 'theirs' } } }))
      }
      return send(command as never)
    }) as never)
    await reseal({ client, tableName: platform.tableName }, text, { dry: false })
    vi.mocked(client.send).mockRestore()
    await expect(read()).rejects.toThrow()
    expect(changed).toBeGreaterThan(1)
  })
})

describe('as an operator runs it', () => {
  const run = (...args: string[]) =>
    runCommand('infra/keys.ts', [...args, '--stage', 'prod'], {
      env: {
        AWS_ACCESS_KEY_ID: services.config.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: services.config.credentials.secretAccessKey,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: services.address,
      },
    })

  it('shows ids and never a key', async () => {
    platform.clock.advance(Date.now() - platform.clock.now())
    const place = ['--ring', 'tokens', '--secret-id', arnOf('tokens')]
    const rotated = await run('rotate', ...place, '--now')
    expect(rotated, rotated.output).toMatchObject({ code: 0 })
    const listed = await run('list', ...place)
    expect(listed.output).toMatch(/^tokens: access.*\n {2}k2 {2}current\n {2}k1 {2}out of use; can be retired from/)
    const { current, ...keys } = JSON.parse(await textOf('tokens'))
    expect([current, Object.keys(keys)]).toEqual(['k2', ['k1', 'k2']])
    for (const key of Object.values(keys)) expect(rotated.output + listed.output).not.toContain(key)
  })

  it('says what is wrong', async () => {
    const { code, output } = await run('rotate', '--ring', 'toString')
    expect([code, output]).toEqual([1, 'Give --ring tokens, admin or data.\n'])
  })

  it('quotes nothing of a secret that is no keyring', async () => {
    const SecretString = JSON.stringify({ api_key: 'very secret, and more than thirty-two characters' })
    await services.secrets.send(new PutSecretValueCommand({ SecretId: arnOf('tokens'), SecretString }))
    const failure = await describeRing(operation('tokens')).catch((error: Error) => error)
    expect(failure).toMatchObject({ message: expect.stringMatching(/^The secret is not a keyring/) })
    expect(`${(failure as Error).stack} ${(failure as Error).cause}`).not.toContain('very secret')
  })
})
