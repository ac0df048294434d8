import { decodeProtectedHeader } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { SubscriptionEntity } from '#shared/delivery/webhooks/entity.ts'
import { decryptSecrets } from '#shared/delivery/webhooks/secrets.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import { runRemovalAfterGrace } from '#test/functions/workers/workspace-removal-support.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

/** Creates a workspace with a webhook, and returns a copy of its record, as a backup has it. */
const subscribed = async () => {
  const app = await installed(platform.deps)
  const { body, status } = await platform.call('POST', '/api/v1/webhooks', {
    token: app.token,
    body: { url: 'https://example.com/hook', events: ['run.*'] },
  })
  expect(status).toBe(201)
  const key = { installation_id: app.installation.id, id: body.id }
  const copy = (await platform.deps.table.get(SubscriptionEntity, key)) ?? expect.fail()
  return { ...app, copy, secret: body.secret as string }
}

describe('secrets of a workspace', () => {
  it('are encrypted with its own data key, which opens nothing of another workspace', async () => {
    const [one, other] = [await subscribed(), await subscribed()]
    const kids = [one, other].map(({ copy }) => decodeProtectedHeader(copy.secrets[0]?.value ?? '').kid)
    expect(kids).toEqual([one.workspaceId, other.workspaceId])
    expect(await decryptSecrets(platform.deps, one.copy)).toEqual([one.secret])
    await expect(
      decryptSecrets(platform.deps, { ...one.copy, workspace_id: other.workspaceId }),
      'a record moved to another workspace',
    ).rejects.toThrow()
  })

  it('opens nothing of a removed workspace, even with a copy of its records and the ring', async () => {
    const { copy, person, secret, workspaceId } = await subscribed()
    expect(await decryptSecrets(platform.deps, copy)).toEqual([secret])
    expect((await platform.call('DELETE', '/console/workspace', { token: person.token })).status).toBe(204)
    await platform.drain()
    await runRemovalAfterGrace(platform)
    await expect(decryptSecrets(platform.deps, copy)).rejects.toThrow('is destroyed')
    const late = seal(platform.deps.keys.ofWorkspace(workspaceId), 'settings:late', 'a late request')
    await expect(late, 'no new key takes its place').rejects.toThrow('is destroyed')
  })

  it('aren’t taken from the ring, which outlives the workspace', async () => {
    const { workspaceId } = await installed(platform.deps)
    const ofRing = await seal(await platform.deps.keys.data(), 'settings:ring', 'kept')
    const opened = unseal(platform.deps.keys.ofWorkspace(workspaceId), 'settings:ring', ofRing)
    await expect(opened).rejects.toThrow('there is no data key')
  })
})
