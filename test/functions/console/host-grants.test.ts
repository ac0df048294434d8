import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity } from '#shared/identity/people/entity.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { hostActors, hostToken } from '#testkit/hosts.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { createClient } from '../mcp/mcp-support.ts'
import { listAudit } from './people-support.ts'

const platform = usingPlatform()
let place: Awaited<ReturnType<typeof workspace>>
let owner: Awaited<ReturnType<typeof member>>
let person: Awaited<ReturnType<typeof member>>
beforeEach(async () => {
  platform.clock.advance(60_000)
  place = await workspace(platform.deps)
  owner = await member(platform.deps, place.id, 'owner')
  person = await member(platform.deps, place.id, 'member')
})

const connect = (userId: string) => hostToken(platform.deps, { workspaceId: place.id, userId })
const list = async (token: string, query = '') => platform.call('GET', `/console/grants?kind=host${query}`, { token })
const ids = async (token: string, query = ''): Promise<string[]> =>
  (await list(token, query)).body.items.map(({ id }: { id: string }) => id)
const disconnect = async (token: string, id: string) =>
  (await platform.call('DELETE', `/console/grants/${id}`, { token })).status
const works = async (token: string) => (await createClient(platform, token).modern('tools/list')).status === 200

describe('connected assistants', () => {
  it('are listed to the person who connected them, and to an admin who asks for everybody’s', async () => {
    const [mine, theirs] = [await connect(person.user.id), await connect(owner.user.id)]
    expect((await list(person.token)).body.items).toEqual([
      {
        id: mine.grant.id,
        kind: 'host',
        client: mine.grant.client,
        resource: '/mcp',
        scopes: mine.grant.scopes,
        person: { id: person.user.id, name: person.user.name },
        created_at: expect.any(String),
        last_used_at: null,
      },
    ])
    expect(await ids(owner.token)).toEqual([theirs.grant.id])
    expect(new Set(await ids(owner.token, '&all=true'))).toEqual(new Set([mine.grant.id, theirs.grant.id]))
    expect((await list(person.token, '&all=true')).body.error.code).toBe('admin_required')
    expect((await platform.call('GET', '/console/grants', { token: person.token })).body.items).toEqual([])
  })

  it('aren’t listed once the person left, or after 30 days without use', async () => {
    await connect(person.user.id)
    expect(await ids(owner.token, '&all=true')).toHaveLength(1)
    platform.clock.advance(30 * DAY)
    const { token } = await member(platform.deps, place.id, 'owner')
    expect(await ids(token, '&all=true')).toEqual([])
    await connect(person.user.id)
    await platform.deps.table.transact([MemberEntity.delete({ workspace_id: place.id, user_id: person.user.id })])
    expect(await ids(token, '&all=true')).toEqual([])
  })

  it('are disconnected at once, by their person or an admin, and the audit says by whom', async () => {
    const [first, second] = [await connect(person.user.id), await connect(person.user.id)]
    const stranger = await member(platform.deps, place.id, 'member')
    expect(await disconnect(stranger.token, first.grant.id)).toBe(403)
    const elsewhere = await member(platform.deps, (await workspace(platform.deps)).id, 'owner')
    expect(await disconnect(elsewhere.token, first.grant.id)).toBe(404)
    expect(await works(first.token)).toBe(true)
    expect(await disconnect(person.token, first.grant.id)).toBe(204)
    expect(await works(first.token)).toBe(false)
    expect(await disconnect(person.token, first.grant.id)).toBe(404)
    expect(await disconnect(owner.token, second.grant.id)).toBe(204)
    expect(await works(second.token)).toBe(false)
    await platform.drain()
    const entries = (await listAudit(platform, place.id)).filter(
      ({ action }: { action: string }) => action === 'host.disconnected',
    )
    expect(entries.map(({ actor }: { actor: { id: string } }) => actor.id).sort()).toEqual(
      [person.user.id, owner.user.id].sort(),
    )
  })
})

describe('which assistants are allowed', () => {
  const set = (token: string, body: object) => platform.call('PUT', '/console/settings/hosts', { token, body })

  it('is the owner’s decision, known to every member, and ends what isn’t allowed at once', async () => {
    const { token } = await connect(person.user.id)
    expect((await set(person.token, { enabled: false, allowed_hosts: null })).status).toBe(403)
    const allowed = { enabled: true, allowed_hosts: ['other.example'] }
    expect((await set(owner.token, allowed)).body).toEqual(allowed)
    expect((await platform.call('GET', '/console/settings/hosts', { token: person.token })).body).toEqual(allowed)
    expect(await works(token)).toBe(false)
    await set(owner.token, { enabled: true, allowed_hosts: ['host.example'] })
    expect(await works(token)).toBe(true)
    await set(owner.token, { enabled: false, allowed_hosts: null })
    expect(await works(token)).toBe(false)
    await set(owner.token, { enabled: true, allowed_hosts: null })
    expect(await works(token)).toBe(true)
  })

  it('applies to later connections, by the host of the address to which people return', async () => {
    await set(owner.token, { enabled: true, allowed_hosts: ['localhost'] })
    const act = hostActors(platform)
    const redirect_uri = 'http://localhost:4000/cb'
    const native = await act.register({ redirect_uris: ['http://localhost/cb'] })
    const tg = await act.link(native, { redirect_uri })
    expect((await act.decide(person.token, tg)).status).toBe(200)
    const other = await act.link(await act.register())
    expect((await act.decide(person.token, other)).body.error.code).toBe('forbidden')
  })
})
