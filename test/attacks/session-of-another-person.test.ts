import { expect, it } from 'vitest'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

it('a console token opens nothing with the session of another person, even in the same workspace', async () => {
  const { deps } = platform
  const { id: ws } = await workspace(deps)
  const [owner, other] = [await member(deps, ws, 'owner'), await member(deps, ws, 'member')]
  const of = { usr: owner.user.id, ws, mem: owner.user.created_at }
  const { token } = await issueToken(deps, 'console', { ...of, ses: other.session.id })
  const { status, body } = await platform.call('GET', '/console/me', { token })
  expect([status, body.error?.code]).toEqual([401, 'unauthorized'])
  expect((await platform.call('GET', '/console/me', { token: owner.token })).status).toBe(200)
})
