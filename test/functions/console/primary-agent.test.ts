import { describe, expect, it, vi } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { MemberEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { ACCEPT } from '#test/functions/api/agents-support.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { addMember, usingConversations } from './conversations-support.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

const refused = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

describe('the primary agent', () => {
  it('is chosen by admins and owners among the workspace’s active agents', async () => {
    const { agent, ann } = await chats.pair()
    const member = await addMember(platform, agent.workspaceId)
    const admin = await addMember(platform, agent.workspaceId, 'admin')
    expect(refused(await member.primary(agent.installation.id))).toEqual([403, 'admin_required'])
    const foreign = (await chats.pair()).agent
    for (const id of [foreign.installation.id, 'ins_01kae5m1v8w6c3x9q2r7t4y0zn', 'nonsense']) {
      expect(refused(await ann.primary(id))).toEqual([404, 'not_found'])
    }
    expect((await admin.primary(agent.installation.id)).body).toEqual({ installation_id: agent.installation.id })
    platform.clock.advance(1_000)
    expect((await ann.primary(null)).body).toEqual({ installation_id: null })
    expect((await ann.primary(null)).status).toBe(200)
    const { items } = await platform.deps.table.query(
      AuditEntity,
      { scope: agent.workspaceId },
      { limit: 100, ascending: true },
    )
    const changes = items.filter(({ action }) => action === 'workspace.primary_agent_changed')
    expect(changes.map(({ actor, details }) => [actor.id, details])).toEqual([
      [admin.user.id, { before: null, after: agent.installation.id }],
      [ann.user.id, { before: agent.installation.id, after: null }],
    ])
    await agent.set({ status: 'suspended' })
    expect(refused(await ann.primary(agent.installation.id))).toEqual([403, 'installation_suspended'])
    await agent.set({ status: 'revoked' })
    expect(refused(await ann.primary(agent.installation.id))).toEqual([404, 'not_found'])
  })

  it('is not changed by an admin who concurrently loses the role', async () => {
    const { agent } = await chats.pair()
    const { workspaceId } = agent
    const admin = await addMember(platform, workspaceId, 'admin')
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    vi.spyOn(table, 'transact').mockImplementation(async (writes) => {
      if (writes.some(({ entity }) => entity.name === WorkspaceEntity.name)) {
        vi.restoreAllMocks()
        const key = { workspace_id: workspaceId, user_id: admin.user.id }
        await transact([MemberEntity.update(key, { set: { role: 'member' } })])
      }
      return transact(writes)
    })
    expect(refused(await admin.primary(agent.installation.id))).toEqual([403, 'admin_required'])
    const workspace = await table.get(WorkspaceEntity, { id: workspaceId })
    expect(workspace?.primary_installation_id).toBe(undefined)
  })

  it('answers everyone’s main conversation separately, without earlier messages', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const bob = await addMember(platform, agent.workspaceId)
    const [hers, his] = [await ann.main(), await bob.main()]
    await ann.say(hers, 'Between us.')
    await chats.settle()
    platform.clock.advance(1_000)
    await ann.primary(agent.installation.id)
    expect((await ann.list('?kind=main'))[0]?.answered_by).toMatchObject({ type: 'agent', name: agent.app.name })
    await ann.say(hers, 'Hello.')
    await bob.say(his, 'Hi.')
    await chats.settle()
    expect((await ann.said(hers)).at(-1)).toBe('agent: Ada heard Hello.')
    expect((await bob.said(his)).at(-1)).toBe('agent: Ada heard Hi.')
    const requests = chats.received.slice(-2).map(({ conversation }) => conversation)
    expect(requests.map(({ kind, messages }) => [kind, messages.length])).toEqual([
      ['main', 1],
      ['main', 1],
    ])
    const read = await platform.call('GET', `/api/v1/conversations/${hers}/messages`, { token: agent.token })
    expect(read.body.items.map(({ text }: { text: string }) => text)).toEqual(['Ada heard Hello.', 'Hello.'])
    expect(await ann.said(hers)).toHaveLength(4)
  })

  it('loses the main conversations at once when another one is chosen, but completes its current run', async () => {
    const { agent: first, ann } = await chats.pair('Ada')
    const second = await chats.agent({ ...chats.echo('Bea'), workspaceId: first.workspaceId })
    const main = await ann.main()
    await ann.primary(first.installation.id)
    first.behaves(() => ACCEPT)
    const { run_id } = (await ann.say(main, 'Begin.')).body
    await chats.settle()
    const token = await callbackToken(platform.deps, first, run_id)
    const path = `/api/v1/conversations/${main}/messages`
    expect((await platform.call('GET', path, { token })).status).toBe(200)
    await ann.primary(second.installation.id)
    platform.clock.advance(1_000)
    expect(refused(await platform.call('GET', path, { token }))).toEqual([404, 'not_found'])
    expect(refused(await platform.call('POST', path, { token, body: { text: 'Still me.' } }))).toEqual([
      404,
      'not_found',
    ])
    expect((await platform.call('GET', '/api/v1/conversations', { token: first.token })).body.items).toEqual([])
    await ann.say(main, 'Go on.')
    await platform.drain()
    // The message queued behind the run is no longer for the previous agent.
    const textsSeenBy = async (listener: string) =>
      (await platform.call('GET', '/api/v1/events?types=message.created', { token: listener })).body.items.map(
        ({ data }: { data: { text: string } }) => data.text,
      )
    expect(await textsSeenBy(first.token)).not.toContain('Go on.')
    expect(await textsSeenBy(second.token)).toContain('Go on.')
    const body = { status: 'succeeded', output: { text: 'Begun.' } }
    await platform.call('POST', `/api/v1/runs/${run_id}/complete`, { token, body })
    await chats.settle()
    const answers = (await ann.messages(main)).filter(({ author }) => author.type !== 'user')
    expect(answers.map(({ author, text }) => [author.id, text])).toEqual([
      [first.installation.id, 'Begun.'],
      [second.installation.id, 'Bea heard Go on.'],
    ])
  })

  it.each(['suspended', 'revoked'] as const)('is replaced by the orchestrator when it is %s', async (status) => {
    const { agent, ann } = await chats.pair('Ada')
    const main = await ann.main()
    await ann.primary(agent.installation.id)
    await platform.deps.table.transact([InstallationEntity.update(agent.installation, { set: { status } })])
    expect((await ann.list('?kind=main'))[0]?.answered_by?.type).toBe('orchestrator')
    await ann.say(main, 'Anybody?')
    await chats.settle()
    // No language model is configured here, and the orchestrator reports that.
    expect((await ann.messages(main)).at(-1)).toMatchObject({
      author: { type: 'orchestrator' },
      error_code: 'llm_not_configured',
    })
  })
})
