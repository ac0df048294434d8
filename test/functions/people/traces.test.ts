import { beforeEach, describe, expect, it } from 'vitest'
import { agentChatId } from '#shared/domain/conversations/chats.ts'
import { joinWrites, previewInvitation } from '#shared/domain/people/join.ts'
import { removeWhatIsDue } from '#shared/domain/removal/due.ts'
import { voteFor } from '#shared/domain/requests/vote.ts'
import { ConversationEntity, MessageEntity, PersonChatEntity } from '#shared/entities/conversations.ts'
import { FormerMemberEntity } from '#shared/entities/former-members.ts'
import { SessionEntity, UserEntity } from '#shared/entities/people.ts'
import { AgentRequestEntity } from '#shared/entities/reviews.ts'
import { type Run, RunEntity } from '#shared/entities/runs.ts'
import type { EventType } from '#shared/events/catalogue.ts'
import { tell } from '#shared/events/outbox.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { chatter, joined, usingChats } from '#test/functions/chat/support.ts'
import { ACCEPT } from '#test/functions/workspace/agents-support.ts'
import { everything } from '#test/functions/workspace-removal/support.ts'
import { killAfter } from '#test/support/faults.ts'
import { member, workspace } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { workOf } from './support.ts'

const platform = usingPlatform()
const chats = usingChats(platform)
beforeEach(() => platform.clock.advance(60_000))

const SETTLED = 15 * MINUTE

/** A round of the worker, at once or when the account has settled. */
const round = async (after = SETTLED, work = workOf(platform)) => {
  platform.clock.advance(after)
  await removeWhatIsDue(work)
}

/** Where a text stands in the table. */
const placesOf = async (text: string) =>
  (await everything(platform)).filter((item) => JSON.stringify(item).includes(text)).map(({ pk, sk }) => `${pk} ${sk}`)

/** An agent in a workspace, somebody there beside its owner, and their chat with it. */
const talking = async (text: string) => {
  const { agent, ann: owner } = await chats.pair()
  const person = await joined(platform, agent.workspaceId)
  const name = `Zacharias ${person.user.id}`
  await person.call('PATCH', '/console/me', { name })
  const chat = await person.open(agent.installation.id)
  const { body: said } = await person.say(chat, text)
  await chats.settle()
  return { agent, owner, person, name, chat, said }
}

/** The person goes on in another workspace. */
const elsewhere = async (user: { id: string }) => {
  const found = await platform.deps.table.get(UserEntity, { id: user.id })
  if (!found) throw new Error('there is nobody')
  const { id } = await workspace(platform.deps)
  const other = await member(platform.deps, id, 'owner')
  const { body } = await platform.call('POST', '/console/invitations', { token: other.token, body: {} })
  const preview = await previewInvitation(platform.deps, body.start_parameter.slice('join_'.length))
  if (!preview) throw new Error('the invitation is over')
  const work = workOf(platform)
  await work.commit(await joinWrites(work, preview, found))
  const session = { ...other.session, id: `${other.session.id}${user.id}`, user_id: user.id }
  await platform.deps.table.transact([SessionEntity.create(session)])
  return chatter(platform, { user: found, session })
}

describe('what a deleted account leaves in workspaces', () => {
  it.each(['left by the person', 'that removed the person'])('goes in one %s before, too', async (how) => {
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
  })

  it('loses the name in events, and of their own chats what was said in events and runs; the others’ stay', async () => {
    const stamp = platform.clock.now()
    const { agent, owner, person, name, chat, said } = await talking(`Private ${stamp}`)
    const theirs = await owner.open(agent.installation.id)
    const { body: other } = await owner.say(theirs, `Another’s ${stamp}`)
    const { body: task } = await person.call('POST', '/console/tasks', {
      title: 'Count',
      installation_id: agent.installation.id,
    })
    await person.call('POST', `/console/tasks/${task.id}/messages`, { text: `To all ${stamp}` })
    const told = (type: EventType, private_to: string | undefined, data: Record<string, unknown>) =>
      tell(platform.clock, {
        type,
        workspace_id: agent.workspaceId,
        installation_id: agent.installation.id,
        private_to,
        data,
      })
    const { app_id, id: installation_id } = agent.installation
    const ended = { app_id, installation_id, status: 'failed', trigger: 'chat', duration_ms: 1 }
    const failed = { ...ended, run_id: said.run_id, error_code: 'agent_failed' }
    await platform.deps.table.transact([
      told('custom.noted', person.user.id, { note: `Private ${stamp}` }),
      told('custom.noted', undefined, { note: 'For all', by: { id: person.user.id, name } }),
      told('run.failed', person.user.id, { ...failed, error_message: `Private ${stamp}` }),
    ])
    await chats.settle()
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    await round()
    const { body: feed } = await platform.call('GET', '/api/v1/events?limit=100', { token: agent.token })
    const dataOf = (wanted: string) =>
      feed.items.flatMap(({ type, data }: { type: string; data: unknown }) => (type === wanted ? [data] : []))
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
    expect((await read(said.run_id)).body).toMatchObject({ status: 'succeeded', input: {}, output: null, steps: [] })
    expect((await read(other.run_id)).body.input).toMatchObject({ text: `Another’s ${stamp}` })
  })

  it('ends with a run of theirs that still waits, and with what lies in the bucket', async () => {
    const { agent, ann: owner } = await chats.pair()
    agent.behaves(() => ACCEPT)
    const person = await joined(platform, agent.workspaceId)
    const chat = await person.open(agent.installation.id)
    const { body: said } = await person.say(chat, 'x')
    await chats.settle()
    await owner.call('GET', '/console/me')
    const run = (await chats.runOf(agent.workspaceId, said.run_id)) as Run
    const object = `payloads/runs/${run.id}/input`
    await platform.deps.objects.put(object, Buffer.from('{"text":"large"}'), 'application/json')
    await platform.deps.table.transact([RunEntity.update(run, { set: { input: { object, bytes: 20_000 } } })])
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    await round()
    expect(await chats.runOf(agent.workspaceId, run.id)).toMatchObject({ status: 'cancelled', input: { json: '{}' } })
    expect([...platform.objects.keys()]).not.toContain(object)
  })
})

it('what a deleted account leaves goes in the next round, after whichever effect the worker died', async () => {
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

describe('what comes in late', () => {
  it('goes too: a vote and a chat that a request made which was under way', async () => {
    const { agent, owner, person } = await talking('x')
    const { body: wish } = await owner.call('POST', '/console/agent-requests', { title: 'Counts' })
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    await round(0)
    const { table } = platform.deps
    const speaker = { workspace: { id: agent.workspaceId }, user: person.user }
    const id = agentChatId(speaker as never, 'ins_late')
    const { workspaceId: workspace_id } = agent
    const user_id = person.user.id
    await voteFor(workOf(platform), user_id, wish.id)
    await table.transact([
      ConversationEntity.create({ id, workspace_id, kind: 'agent', title: 'Late', user_id, created_at: 1 }),
      PersonChatEntity.create({ workspace_id, user_id, place: 'late', conversation_id: id }),
    ])
    await round()
    expect((await table.get(AgentRequestEntity, { id: wish.id }))?.votes).toBe(0)
    expect(await table.get(ConversationEntity, { workspace_id, id })).toBeUndefined()
    expect((await table.get(UserEntity, { id: user_id }))?.left).toBeUndefined()
  })

  it('is found behind a page of the index that has nothing any more', async () => {
    const { owner, person } = await talking('x')
    const { body: wish } = await owner.call('POST', '/console/agent-requests', { title: 'Counts' })
    await person.call('POST', `/console/agent-requests/${wish.id}/vote`)
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
    expect((await platform.deps.table.get(AgentRequestEntity, { id: wish.id }))?.votes).toBe(0)
  })

  it('finds no conversation to be said in, so that no message stays which nothing leads to', async () => {
    const { agent, person, chat } = await talking('x')
    expect((await person.call('DELETE', '/console/me')).status).toBe(204)
    const work = workOf(platform)
    const answers: number[] = []
    const table = new Proxy(work.table, {
      get: (of, field) => {
        const value = Reflect.get(of, field)
        if (field !== 'transact') return typeof value === 'function' ? value.bind(of) : value
        return async (writes: Parameters<typeof work.table.transact>[0]) => {
          // Just before and just after the agent's conversation goes.
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
