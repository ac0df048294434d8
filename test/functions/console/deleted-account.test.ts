import { beforeEach, describe, expect, it } from 'vitest'
import type { EventType } from '#shared/delivery/catalogue/catalogue.ts'
import { emitEvent } from '#shared/foundation/outbox/outbox.ts'
import { FormerMemberEntity, SessionEntity, UserEntity } from '#shared/identity/people/entity.ts'
import { joinWrites, loadInvitation } from '#shared/identity/people/join.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { runRemovalRound } from '#shared/lifecycle/removal/round.ts'
import { AgentRequestEntity } from '#shared/marketplace/requests/entity.ts'
import { voteFor } from '#shared/marketplace/requests/vote.ts'
import { agentChatId } from '#shared/work/answering/chats.ts'
import { ConversationEntity, MessageEntity, PersonChatEntity } from '#shared/work/conversations/entity.ts'
import { type Run, RunEntity } from '#shared/work/runs/entity.ts'
import { loadTask } from '#shared/work/tasks/change.ts'
import { ACCEPT } from '#test/functions/api/agents-support.ts'
import { scanTable } from '#test/functions/workers/workspace-removal-support.ts'
import { killAfter } from '#testkit/faults.ts'
import { callbackToken, member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { addMember, conversationsOf, usingConversations } from './conversations-support.ts'
import { workOf } from './people-support.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)
beforeEach(() => platform.clock.advance(60_000))

const SETTLED = 15 * MINUTE

/** Runs one round of the worker, at once or after the account's grace period. */
const round = async (after = SETTLED, work = workOf(platform)) => {
  platform.clock.advance(after)
  await runRemovalRound(work)
}

/** Lists the table's items that contain a text. */
const placesOf = async (text: string) =>
  (await scanTable(platform)).filter((item) => JSON.stringify(item).includes(text)).map(({ pk, sk }) => `${pk} ${sk}`)

/** Creates an agent in a workspace, a member in addition to its owner, and their conversation. */
const talking = async (text: string) => {
  const { agent, ann: owner } = await chats.pair()
  const person = await addMember(platform, agent.workspaceId)
  const name = `Zacharias ${person.user.id}`
  await person.call('PATCH', '/console/me', { name })
  const chat = await person.open(agent.installation.id)
  const { body: sentMessage } = await person.say(chat, text)
  await chats.settle()
  return { agent, owner, person, name, chat, sentMessage }
}

/** Signs the person in to another workspace. */
const elsewhere = async (user: { id: string }) => {
  const found = await platform.deps.table.get(UserEntity, { id: user.id })
  if (!found) throw new Error('no user')
  const { id } = await workspace(platform.deps)
  const other = await member(platform.deps, id, 'owner')
  const { body } = await platform.call('POST', '/console/invitations', { token: other.token, body: {} })
  const preview = await loadInvitation(platform.deps, body.start_parameter.slice('join_'.length))
  if (!preview) throw new Error('the invitation is no longer valid')
  const work = workOf(platform)
  await work.commit(await joinWrites(work, preview, found))
  const session = { ...other.session, id: `${other.session.id}${user.id}`, user_id: user.id }
  await platform.deps.table.transact([SessionEntity.create(session)])
  return conversationsOf(platform, { user: found, session })
}

describe('a deleted account’s data in workspaces', () => {
  it.each(['left by the person', 'that removed the person'])(
    'is removed from a workspace %s before, too',
    async (how) => {
      const text = `Secret ${how} ${platform.clock.now()}`
      const { agent, owner, person, name, chat } = await talking(text)
      const left =
        how === 'left by the person'
          ? await person.call('DELETE', '/console/workspace/membership')
          : await owner.call('DELETE', `/console/members/${person.user.id}`)
      expect(left.status).toBe(204)
      const there = await elsewhere(person.user)
      expect((await there.call('DELETE', '/console/me')).status).toBe(204)
      await round()
      const { table } = platform.deps
      expect(await table.get(ConversationEntity, { workspace_id: agent.workspaceId, id: chat })).toBeUndefined()
      expect([await placesOf(text), await placesOf(name)]).toEqual([[], []])
      expect(
        await table.get(FormerMemberEntity, { workspace_id: agent.workspaceId, user_id: person.user.id }),
      ).toBeUndefined()
    },
  )

  it('loses the name in events, and the content of their own conversations in events and runs, but not of others’', async () => {
    const stamp = platform.clock.now()
    const { agent, owner, person, name, chat, sentMessage } = await talking(`Private ${stamp}`)
    const theirs = await owner.open(agent.installation.id)
    const { body: other } = await owner.say(theirs, `Another’s ${stamp}`)
    const { body: task } = await person.call('POST', '/console/tasks', {
      title: 'Count',
      installation_id: agent.installation.id,
    })
    await person.call('POST', `/console/tasks/${task.id}/messages`, { text: `To all ${stamp}` })
    const eventWrites = (type: EventType, private_to: string | undefined, data: Record<string, unknown>) =>
      emitEvent(platform.clock, {
        type,
        workspace_id: agent.workspaceId,
        installation_id: agent.installation.id,
        private_to,
        data,
      })
    const { app_id, id: installation_id } = agent.installation
    const ended = { app_id, installation_id, status: 'failed', trigger: 'chat', duration_ms: 1 }
    const failed = { ...ended, run_id: sentMessage.run_id, error_code: 'agent_failed' }
    await platform.deps.table.transact([
      eventWrites('custom.noted', person.user.id, { note: `Private ${stamp}` }),
      eventWrites('custom.noted', undefined, { note: 'For all', by: { id: person.user.id, name } }),
      eventWrites('run.failed', person.user.id, { ...failed, error_message: `Private ${stamp}` }),
    ])
    await chats.settle()
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    await round()
    const { body: feed } = await platform.call('GET', '/api/v1/events?limit=100', { token: agent.token })
    const dataOf = (expectedType: string) =>
      feed.items.flatMap(({ type, data }: { type: string; data: unknown }) => (type === expectedType ? [data] : []))
    const noted = dataOf('custom.noted')
    expect(noted).toHaveLength(2)
    const forAll = { note: 'For all', by: { id: person.user.id, name: 'Deleted user' } }
    expect(noted).toEqual(expect.arrayContaining([{}, forAll]))
    expect(dataOf('run.failed')).toEqual([{ ...failed, error_message: '' }])
    const messages = dataOf('message.created')
    const own = messages.filter((one: { conversation_id: string }) => one.conversation_id === chat)
    const lines = own.map(({ text, author }: { text: string; author: { name: string } }) => `${author.name}: ${text}`)
    expect(lines.toSorted()).toEqual([`${agent.app.name}: `, 'Deleted user: '].toSorted())
    const texts = messages.map(({ text }: { text: string }) => text)
    expect(texts).toEqual(expect.arrayContaining([`Another’s ${stamp}`, `To all ${stamp}`]))
    expect([await placesOf(`Private ${stamp}`), await placesOf(name)]).toEqual([[], []])
    const read = (id: string) => platform.call('GET', `/api/v1/runs/${id}`, { token: agent.token })
    expect((await read(sentMessage.run_id)).body).toMatchObject({
      status: 'succeeded',
      input: {},
      output: null,
      steps: [],
    })
    expect((await read(other.run_id)).body.input).toMatchObject({ text: `Another’s ${stamp}` })
  })

  it('is removed with the tasks that it caused, and their conversations', async () => {
    const text = `Caused ${platform.clock.now()}`
    const { agent, person } = await talking('x')
    agent.behaves(() => ACCEPT)
    const { body } = await person.say(await person.open(agent.installation.id), 'y')
    await chats.settle()
    const token = await callbackToken(platform.deps, agent, body.run_id)
    const { body: made } = await chats.invoke(token, 'create_task', { title: text, description: text })
    const { task_id: id, conversation_id } = made.result
    const report = { text, output: { text: text.repeat(10_000) } }
    expect(
      (await platform.call('POST', `/api/v1/tasks/${id}/report`, { token: agent.token, body: report })).status,
    ).toBe(200)
    await chats.settle()
    const { result } = await loadTask(platform.deps, { workspace_id: agent.workspaceId, id })
    const { object } = (result as NonNullable<typeof result>).output as { object: string }
    expect([...platform.objects.keys()]).toContain(object)
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    await round()
    expect(await placesOf(text)).toEqual([])
    expect([...platform.objects.keys()]).not.toContain(object)
    const workspace_id = agent.workspaceId
    expect(await platform.deps.table.get(ConversationEntity, { workspace_id, id: conversation_id })).toBeUndefined()
    expect(await loadTask(platform.deps, { workspace_id, id })).toMatchObject({ title: '', status: 'review' })
  })

  it('is removed with a run of theirs that is still queued, and from the bucket', async () => {
    const { agent, ann: owner } = await chats.pair()
    agent.behaves(() => ACCEPT)
    const person = await addMember(platform, agent.workspaceId)
    const chat = await person.open(agent.installation.id)
    const { body: sentMessage } = await person.say(chat, 'x')
    await chats.settle()
    await owner.call('GET', '/console/me')
    const run = (await chats.runOf(agent.workspaceId, sentMessage.run_id)) as Run
    const object = `payloads/runs/${run.id}/input`
    await platform.deps.objects.put(object, Buffer.from('{"text":"large"}'), 'application/json')
    await platform.deps.table.transact([RunEntity.update(run, { set: { input: { object, bytes: 20_000 } } })])
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    await round()
    expect(await chats.runOf(agent.workspaceId, run.id)).toMatchObject({ status: 'cancelled', input: { json: '{}' } })
    expect([...platform.objects.keys()]).not.toContain(object)
  })
})

it('a deleted account’s data is removed in the next round when the worker crashed after any effect', async () => {
  for (let n = 1; ; n *= 2) {
    const text = `Mortal ${n} ${platform.clock.now()}`
    const { person, name } = await talking(text)
    await round()
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    platform.clock.advance(SETTLED)
    const death = killAfter(platform, n)
    await round(0).catch(() => undefined)
    const died = death.restore()
    await round(0)
    expect([await placesOf(text), await placesOf(name)], `died after ${n}`).toEqual([[], []])
    expect((await platform.deps.table.get(UserEntity, { id: person.user.id }))?.left).toBeUndefined()
    if (!died) return
  }
})

describe('data written concurrently with an account’s deletion', () => {
  it('is removed, too: a vote and a conversation from requests in progress', async () => {
    const { agent, owner, person } = await talking('x')
    const { body: request } = await owner.call('POST', '/console/agent-requests', { title: 'Counts' })
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    await round(0)
    const { table } = platform.deps
    const speaker = { workspace: { id: agent.workspaceId }, user: person.user }
    const id = agentChatId(speaker as never, 'ins_late')
    const { workspaceId: workspace_id } = agent
    const user_id = person.user.id
    await voteFor(workOf(platform), user_id, request.id)
    await table.transact([
      ConversationEntity.create({ ...stampOf(id, 1), workspace_id, kind: 'agent', title: 'Late', user_id }),
      PersonChatEntity.create({ workspace_id, user_id, place: 'late', conversation_id: id }),
    ])
    await round()
    expect((await table.get(AgentRequestEntity, { id: request.id }))?.votes).toBe(0)
    expect(await table.get(ConversationEntity, { workspace_id, id })).toBeUndefined()
    expect((await table.get(UserEntity, { id: user_id }))?.left).toBeUndefined()
  })

  it('is found behind an index page whose entries are all outdated', async () => {
    const { owner, person } = await talking('x')
    const { body: request } = await owner.call('POST', '/console/agent-requests', { title: 'Counts' })
    await person.call('POST', `/console/agent-requests/${request.id}/vote`)
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    const work = workOf(platform)
    const table = new Proxy(work.table, {
      get: (of, field) => {
        const value = Reflect.get(of, field)
        if (field !== 'listed') return typeof value === 'function' ? value.bind(of) : value
        return async (entity: never, list: string, options: { after?: string }) =>
          options.after === undefined
            ? { items: [], next: '~' }
            : work.table.listed(entity, list, { limit: 50, after: options.after })
      },
    })
    await round(SETTLED, { ...work, table })
    expect((await platform.deps.table.get(AgentRequestEntity, { id: request.id }))?.votes).toBe(0)
  })

  it('finds no conversation for a message, so no message is left unreachable', async () => {
    const { agent, person, chat } = await talking('x')
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    const work = workOf(platform)
    const answers: number[] = []
    const table = new Proxy(work.table, {
      get: (of, field) => {
        const value = Reflect.get(of, field)
        if (field !== 'transact') return typeof value === 'function' ? value.bind(of) : value
        return async (writes: Parameters<typeof work.table.transact>[0]) => {
          // Just before and just after the agent's conversation is deleted.
          const ends = writes.some(({ kind, entity }) => kind === 'delete' && entity === ConversationEntity)
          if (ends) answers.push(await says())
          await work.table.transact(writes)
          if (ends) answers.push(await says())
        }
      },
    })
    const says = async () => {
      const path = `/api/v1/conversations/${chat}/messages`
      return (await platform.call('POST', path, { token: agent.token, body: { text: 'Still there?' } })).status
    }
    await round(0, { ...work, table })
    expect(answers).toEqual([201, 404])
    const { items } = await work.table.query(MessageEntity, { conversation_id: chat }, { limit: 10 })
    expect(items).toEqual([])
  })
})
