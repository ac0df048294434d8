import { beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '#ops/admin/operate.ts'
import { operatorWorkOn } from '#ops/admin/table.ts'
import { InvitationEntity, MemberEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { MOST_OWNERS } from '#shared/identity/people/recover.ts'
import { newId } from '#shared/kernel/ids.ts'
import { runCommand } from '#testkit/command.ts'
import { member, workspace as newWorkspace } from '#testkit/fixtures.ts'
import { usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
const call: typeof platform.call = (...asked) => platform.call(...asked)

// The operator's command uses the real clock.
beforeAll(() => platform.clock.advance(Date.now() + 1_000 - platform.clock.now()))

/** Runs the operator's command as a shell would. */
const runRecovery = (workspace: string) =>
  runCommand(
    'ops/admin.ts',
    ['recover-workspace', '--workspace', workspace, '--stage', 'prod', '--table', platform.tableName],
    { env: { AWS_ENDPOINT_URL_DYNAMODB: platform.store.endpoint } },
  )

const recover = (workspace: string) =>
  COMMANDS['recover-workspace']?.(operatorWorkOn(platform.deps.table), { workspace })

const linkIn = (output = '') => /^Start parameter: (join_\S+)$/m.exec(output)?.[1] ?? ''

type Account = ReturnType<typeof telegram.person>

/** Opens an invitation and presses its first button. Returns the bot's question and its last message. */
const accept = async (account: Account, start_parameter: string) => {
  telegram.say(account, `/start ${start_parameter}`)
  await telegram.settled()
  const asked = telegram.chat(account).at(-1)
  if (asked?.reply_markup) telegram.press(account, asked.message_id, 0)
  await telegram.settled()
  return { asked: asked?.text, answer: telegram.chat(account).at(-1)?.text }
}

const signIn = async (account: Account, workspace_id: string) => {
  platform.clock.advance(1_000)
  const { token } = (
    await call('POST', '/console/bot/webapp-auth', { body: { init_data: telegram.initData(account) } })
  ).body
  return (await call('POST', '/console/session/workspace', { token, body: { workspace_id } })).body
}

describe('an owner who took a workspace over', () => {
  it('can’t see, revoke or outrun the operator’s recovery, and is demoted as it is accepted', async () => {
    const { id } = await newWorkspace(platform.deps)
    const [hostile, accomplice, victim] = [
      await member(platform.deps, id, 'owner'),
      await member(platform.deps, id, 'admin'),
      await member(platform.deps, id, 'member'),
    ]
    const { code, output } = await runRecovery(id)
    expect([code, output]).toEqual([0, expect.stringContaining(hostile.user.id)])
    const link = linkIn(output)

    // Everything that an owner can do about it.
    const { token } = hostile
    expect((await call('GET', '/console/invitations', { token })).body.items).toEqual([])
    const { items } = await platform.deps.table.query(InvitationEntity, { workspace_id: id }, { limit: 10 })
    expect((await call('DELETE', `/console/invitations/${items[0]?.id}`, { token })).status).toBe(404)
    const promoted = await call('PATCH', `/console/members/${accomplice.user.id}`, { token, body: { role: 'owner' } })
    expect(promoted.status).toBe(200)
    const backDoor = await call('POST', '/console/invitations', { token, body: { role: 'owner' } })
    expect(backDoor.status).toBe(201)
    expect((await call('DELETE', '/console/workspace', { token })).status).toBe(204)

    const account = telegram.person({ first_name: 'Ann' })
    const { asked, answer } = await accept(account, link)
    expect(asked).toContain('take over the workspace')
    expect(answer).toContain('You joined')
    const fresh = await signIn(account, id)
    expect(fresh.workspace).toMatchObject({ id, role: 'owner' })
    const roles = (await call('GET', '/console/members', { token: fresh.token })).body.items.map(
      (one: { id: string; role: string }) => [one.id, one.role],
    )
    expect(Object.fromEntries(roles)).toEqual({
      [hostile.user.id]: 'member',
      [accomplice.user.id]: 'member',
      [victim.user.id]: 'member',
      [fresh.user.id]: 'owner',
    })

    // Nothing of the former rank is left.
    for (const { token: former } of [hostile, accomplice]) {
      const back = await call('PATCH', `/console/members/${hostile.user.id}`, {
        token: former,
        body: { role: 'owner' },
      })
      expect([back.status, back.body.error.code]).toEqual([403, 'admin_required'])
    }
    expect((await accept(telegram.person({ first_name: 'Eve' }), backDoor.body.start_parameter)).answer).toContain(
      'no longer valid',
    )
    expect((await accept(telegram.person({ first_name: 'Eve' }), link)).answer).toContain('no longer valid')

    expect((await call('POST', '/console/workspace/restore', { token: fresh.token })).status).toBe(200)
    expect((await call('DELETE', `/console/members/${hostile.user.id}`, { token: fresh.token })).status).toBe(204)
    expect((await call('GET', '/console/me', { token })).status).toBe(401)
  })

  it('is demoted with any number of accomplices, and with one who becomes an owner at that moment', async () => {
    const { id } = await newWorkspace(platform.deps)
    const hostile = await member(platform.deps, id, 'owner')
    const late = await member(platform.deps, id, 'member')
    const owners = Array.from({ length: 2 * MOST_OWNERS }, () => ({
      workspace_id: id,
      user_id: newId('user', platform.clock.now()),
      name: 'Accomplice',
      role: 'owner' as const,
      joined_at: platform.clock.now(),
    }))
    for (let i = 0; i < owners.length; i += 50) {
      await platform.deps.table.transact(owners.slice(i, i + 50).map((one) => MemberEntity.create(one)))
    }
    const account = telegram.person({ first_name: 'Dee' })
    const { table } = platform.deps
    const original = table.transact.bind(table)
    let steps = 0
    table.transact = async (writes) => {
      // The attacker acts after the owners were read, right before the last of them are demoted.
      if (writes.some(({ key }) => key.sk.startsWith('MEMBER#')) && ++steps === 3) {
        platform.clock.advance(1_000)
        const promotion = { token: hostile.token, body: { role: 'owner' } }
        await table.transact([
          MemberEntity.update({ workspace_id: id, user_id: hostile.user.id }, { set: { role: 'owner' } }),
        ])
        expect((await call('PATCH', `/console/members/${late.user.id}`, promotion)).status).toBe(200)
      }
      return original(writes)
    }
    const { answer } = await accept(account, linkIn((await recover(id))?.join('\n'))).finally(() => {
      table.transact = original
    })
    expect(answer).toContain('You joined')
    const { items } = await platform.deps.table.query(MemberEntity, { workspace_id: id }, { limit: 500 })
    expect(items.filter(({ role }) => role === 'owner').map(({ name }) => name)).toEqual(['Dee'])
    expect(items).toHaveLength(owners.length + 3)
  })

  it('gives way to a member of the workspace, too, whom the operator chose', async () => {
    const { id } = await newWorkspace(platform.deps)
    const hostile = await member(platform.deps, id, 'owner')
    const account = telegram.person({ first_name: 'Bea' })
    const invited = await call('POST', '/console/invitations', { token: hostile.token, body: {} })
    await accept(account, invited.body.start_parameter)
    await accept(account, linkIn((await recover(id))?.join('\n')))
    const fresh = await signIn(account, id)
    expect(fresh.workspace.role).toBe('owner')
    const audit = (await call('GET', '/console/audit', { token: fresh.token })).body.items
    expect(audit).toContainEqual(
      expect.objectContaining({
        action: 'workspace.recovered',
        actor: expect.objectContaining({ id: 'operator' }),
        details: expect.objectContaining({ demoted: [hostile.user.id] }),
      }),
    )
  })

  it('is refused to an unknown workspace and a sandbox', async () => {
    await expect(recover('ws_00000000000000000000000000')).rejects.toThrow('There is no workspace')
    const { id } = await newWorkspace(platform.deps)
    await platform.deps.table.transact([WorkspaceEntity.update({ id }, { set: { is_sandbox: true } })])
    await expect(recover(id)).rejects.toThrow('sandbox')
  })
})
