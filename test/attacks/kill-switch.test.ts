import { expect, it } from 'vitest'
import { createWorkerWork } from '#shared/http/worker.ts'
import { stopRuns } from '#shared/moderation/suspension/index.ts'
import { conversationsOf, usingConversations } from '#test/functions/console/conversations-support.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

const admin = (path: string, body: object) =>
  succeeded(platform.call('POST', `/admin/${path}`, { headers: { 'x-admin-key': 'local-admin-key' }, body }))

type Agent = Awaited<ReturnType<typeof chats.agent>>

/** Suspends something of an agent that is answering, and stops its runs, as the worker does that the event wakes. */
const SWITCHES: Record<string, (agent: Agent) => Promise<void>> = {
  app: async ({ app }) => {
    await admin(`apps/${app.id}/suspend`, { reason: 'Abuse.' })
    await stopRuns(createWorkerWork(platform.deps), { kind: 'app', id: app.id })
  },
  installation: async ({ installation: { id } }) => {
    await admin(`installations/${id}/status`, { status: 'suspended', reason: 'Abuse.' })
    await stopRuns(createWorkerWork(platform.deps), { kind: 'installation', id })
  },
  workspace: async ({ workspaceId: id }) => {
    await admin(`workspaces/${id}/status`, { status: 'suspended', reason: 'Abuse.' })
    await stopRuns(createWorkerWork(platform.deps), { kind: 'workspace', id })
  },
}

const FORGED = { status: 'succeeded', output: { text: 'Your password has expired.' } }
const QUESTION = {
  status: 'input_required',
  input_requests: { password: { message: 'What is your password?' } },
}

it.each(Object.keys(SWITCHES).flatMap((kind) => [[kind, FORGED] as const, [kind, QUESTION] as const]))(
  'a suspended %s says nothing to people by the answer of a request that was under way',
  async (kind, answer) => {
    platform.clock.advance(60_000)
    const agent = await chats.agent({ resume: true })
    const ann = conversationsOf(platform, agent.person)
    agent.behaves(async () => {
      await SWITCHES[kind]?.(agent)
      return answer
    })
    const chat = await ann.open(agent.installation.id)
    const { run_id } = await succeeded(ann.say(chat, 'Hello'))
    await chats.settle()
    const { status } = await succeeded(ann.call('GET', `/console/runs/${run_id}`))
    expect(status).toBe('cancelled')
    const said = await ann.said(chat)
    expect(said.join('\n')).not.toContain('password')
    const shown = await Promise.all(
      ['/console/inbox', '/console/notifications', `/console/runs/${run_id}`].map((path) => ann.call('GET', path)),
    )
    for (const { text } of shown) expect(text).not.toContain('password')
  },
)
