import { beforeEach, describe, expect, it } from 'vitest'
import { removeWhatIsDue } from '#shared/domain/removal/due.ts'
import { BotChatEntity } from '#shared/entities/bot.ts'
import { UserEntity, WorkspaceEntity } from '#shared/entities/people.ts'
import { AgentRequestEntity } from '#shared/entities/reviews.ts'
import { everything } from '#test/functions/workspace-removal/support.ts'
import { installed, member } from '#test/support/fixtures.ts'
import type { Answer } from '#test/support/platform.ts'
import { startTelegram } from '#test/support/telegram.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { audited, team, workOf } from './support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body.error.code)
const call = (token: string, method: string, path: string, body?: object) =>
  platform.call(method, path, { token, ...(body && { body }) })

describe('PATCH /console/me and /console/workspace', () => {
  it('change what is sent, in canonical form, and leave the rest', async () => {
    const { people } = await team(platform, 'owner')
    const { token, user } = people[0] as Awaited<ReturnType<typeof member>>
    const edited = await call(token, 'PATCH', '/console/me', { locale: 'DE-ch', time_zone: 'europe/zurich' })
    expect(edited.body).toEqual({ id: user.id, name: user.name, locale: 'de-CH', time_zone: 'Europe/Zurich' })
    const place = await call(token, 'PATCH', '/console/workspace', { name: 'Acme', time_zone: 'Asia/Tokyo' })
    expect(place.body).toMatchObject({ name: 'Acme', locale: 'en', time_zone: 'Asia/Tokyo', role: 'owner' })
    const { body } = await call(token, 'GET', '/console/me')
    expect([body.user, body.workspace]).toEqual([edited.body, place.body])
  })

  it('refuse what names no language or time zone; the workspace’s take an admin', async () => {
    const { people, workspaceId } = await team(platform, 'owner', 'member')
    const [owner, plain] = people as Awaited<ReturnType<typeof member>>[]
    for (const body of [{ locale: 'no such' }, { time_zone: 'Mars/Base' }, { time_zone: '+02:00' }, { name: ' ' }]) {
      for (const path of ['/console/me', '/console/workspace']) {
        const answer = await call(owner?.token ?? '', 'PATCH', path, body)
        expect(answer.body.error?.details.fields, JSON.stringify(body)).toHaveProperty(Object.keys(body)[0] ?? '')
      }
    }
    expect(codeOf(await call(plain?.token ?? '', 'PATCH', '/console/workspace', { name: 'Mine' }))).toBe(
      'admin_required',
    )
    await call(owner?.token ?? '', 'PATCH', '/console/workspace', { name: 'Acme' })
    await call(owner?.token ?? '', 'PATCH', '/console/workspace', { name: 'Acme' })
    expect(await audited(platform, workspaceId)).toMatchObject([
      { action: 'workspace.edited', details: { fields: ['name'] } },
    ])
  })
})

describe('DELETE /console/me', () => {
  it('is refused to the last owner of a workspace with others, and says which and what to do', async () => {
    const { people, workspaceId } = await team(platform, 'owner', 'member')
    const [owner, other] = people as Awaited<ReturnType<typeof member>>[]
    const refused = await call(owner?.token ?? '', 'DELETE', '/console/me')
    expect(refused.body.error).toMatchObject({ code: 'conflict', details: { workspaces: [{ id: workspaceId }] } })
    expect(refused.body.error.fix).toContain('PATCH /console/members/{id}')
    await call(owner?.token ?? '', 'PATCH', `/console/members/${other?.user.id}`, { role: 'owner' })
    expect(codeOf(await call(owner?.token ?? '', 'DELETE', '/console/me'))).toBe(204)
    expect((await platform.deps.table.get(WorkspaceEntity, { id: workspaceId }))?.status).toBe('active')
  })

  it('of two owners at once one stays', async () => {
    const { people, workspaceId } = await team(platform, 'owner', 'owner', 'member')
    const [first, second] = people as Awaited<ReturnType<typeof member>>[]
    const answers = await Promise.all([first, second].map((one) => call(one?.token ?? '', 'DELETE', '/console/me')))
    expect(answers.map(codeOf).sort()).toEqual([204, 'conflict'])
    const left = people.filter((_, i) => i > 1 || codeOf(answers[i] as Answer) !== 204)
    const { body } = await call(left.at(-1)?.token ?? '', 'GET', '/console/members')
    expect(body.items.map(({ role }: { role: string }) => role).sort()).toEqual(['member', 'owner'])
    expect(workspaceId).toBeTruthy()
  })

  it('deletes the workspace of one who is alone in it, with its grace', async () => {
    const { people, workspaceId } = await team(platform, 'owner')
    const { token } = people[0] as Awaited<ReturnType<typeof member>>
    expect(codeOf(await call(token, 'DELETE', '/console/me'))).toBe(204)
    expect(await platform.deps.table.get(WorkspaceEntity, { id: workspaceId })).toMatchObject({
      status: 'deleting',
      deletes_at: platform.clock.now() + 14 * 86_400_000,
    })
  })

  it('ends every session at once, and leaves no name, vote or chat behind', async () => {
    const app = await installed(platform.deps)
    const person = await member(platform.deps, app.workspaceId, 'owner')
    const name = `Zacharias ${person.user.id}`
    await call(person.token, 'PATCH', '/console/me', { name })
    const { body: task } = await call(person.token, 'POST', '/console/tasks', { title: 'Count' })
    await call(person.token, 'POST', `/console/tasks/${task.id}/messages`, { text: 'Please.' })
    const { body: wish } = await call(app.person.token, 'POST', '/console/agent-requests', { title: 'Counts' })
    await call(person.token, 'POST', `/console/agent-requests/${wish.id}/vote`)
    await platform.deps.table.transact([
      BotChatEntity.replace({ identity: person.user.identity, can_be_written_to: true, heard_at: 1 }),
    ])
    expect(codeOf(await call(person.token, 'DELETE', '/console/me'))).toBe(204)
    expect((await call(person.token, 'GET', '/console/me')).status).toBe(401)
    const { body } = await call(app.person.token, 'GET', '/console/members')
    expect(JSON.stringify(body)).not.toContain('Zacharias')
    for (let rounds = 0; rounds < 40; rounds++) await removeWhatIsDue(workOf(platform), { records: 5, ms: 10_000 })
    expect((await platform.deps.table.get(AgentRequestEntity, { id: wish.id }))?.votes).toBe(0)
    const named = (await everything(platform)).filter((item) => JSON.stringify(item).includes(name))
    expect(named.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
    expect(await platform.deps.table.get(UserEntity, { id: person.user.id })).toEqual({
      id: person.user.id,
      name: 'Deleted user',
      identity: `deleted:${person.user.id}`,
      locale: 'en',
      time_zone: 'UTC',
      status: 'deleted',
      home_workspace_id: '',
      created_at: person.user.created_at,
      deleted_at: expect.any(Number),
    })
  })

  it('sets the identity free: signing in with it later makes a new person', async () => {
    const telegram = await startTelegram(platform)
    const ann = telegram.person({ first_name: 'Ann' })
    const signIn = () =>
      platform.call('POST', '/console/bot/webapp-auth', { body: { init_data: telegram.initData(ann) } })
    const first = (await signIn()).body
    expect(codeOf(await call(first.token, 'DELETE', '/console/me'))).toBe(204)
    platform.clock.advance(5_000)
    const second = (await signIn()).body
    await telegram.stop()
    expect(second.user.id).not.toBe(first.user.id)
    expect(second.workspace.id).not.toBe(first.workspace.id)
    const local = async () =>
      (await platform.call('POST', '/console/session', { body: { user: 'leaver', workspace: 'leavers' } })).body
    const before = await local()
    await call(before.token, 'DELETE', '/console/me')
    expect((await local()).user.id).not.toBe(before.user.id)
  })
})
