import { consent, pkce, until } from '#test/e2e/support.ts'
import type { Receiver } from '#testkit/receiver.ts'
import { bearer, type Credential, PATIENCE_MS, type WorldContext } from './context.ts'
import { createMessenger } from './messenger.ts'
import { REDIRECT, type Vendor } from './vendor.ts'

/** Creates a workspace with an owner, a member and the vendor's agent, which has a run, a task, a file and more. */
export const createCustomer = async (making: WorldContext, agent: Receiver, vendor: Vendor) => {
  const { unique, call } = making
  const { app } = vendor
  const signIn = async (name: string, where: string, role: string) => {
    const body = { user: `${name}-${unique}`, workspace: where, role }
    const session = await call('POST', '/console/session', {}, body)
    return {
      credential: bearer(session.token),
      user: session.user.id as string,
      workspace: session.workspace.id as string,
    }
  }
  const owner = await signIn('owner', `acme-${unique}`, 'owner')
  const { workspace } = owner
  const member = await signIn('member', workspace, 'member')
  const asOwner = (to: string, body?: object) => call('POST', to, owner.credential, body)

  const tokens = await install(making, vendor, workspace)
  const access = bearer(tokens.access_token)
  const installation = tokens.installation_id as string
  const surface = await asOwner(`/console/installations/${installation}/surface-token`)

  /** Starts a run that stays active. @returns it with its callback token */
  const running = async () => {
    const before = agent.requests.length
    agent.next({ kind: 'answer', status: 202 })
    const { id } = await call('POST', '/api/v1/runs', access, { input: { question: 'How many?' } })
    const asked = await until(() => agent.requests.slice(before).find(({ body }) => body.includes(id)), PATIENCE_MS)
    await until(
      async () => (await call('GET', `/api/v1/runs/${id}`, access)).status === 'running' || undefined,
      PATIENCE_MS,
    )
    return { id: id as string, credential: bearer(JSON.parse(asked.body.toString()).callback.token) }
  }
  const [run, ending, waiting] = [await running(), await running(), await running()]
  const fetched = { arguments: { url: `${agent.url}/page` } }
  const approval = await call('POST', '/api/v1/tools/http_fetch/invoke', waiting.credential, fetched)

  const hook = { url: `${agent.url}/hooks`, events: ['custom.*'] }
  const webhook = await call('POST', '/api/v1/webhooks', access, hook)
  const event = { arguments: { type: 'custom.order.paid', data: { n: 1 } } }
  await call('POST', '/api/v1/tools/emit_event/invoke', access, event)
  const deliveries = `/api/v1/webhooks/${webhook.id}/deliveries`
  const delivery = await until(async () => (await call('GET', deliveries, access)).items[0], PATIENCE_MS)

  const file = { name: 'report.csv', content_type: 'text/csv', content: 'name,phone' }
  const task = await asOwner('/console/tasks', { title: 'Count the stock', installation_id: installation })
  const review = await call('PUT', `/console/apps/${app.id}/review`, owner.credential, { rating: 4 })
  const report = await asOwner('/console/abuse-reports', { app_id: app.id, text: 'It asks for passwords.' })
  const wish = await asOwner('/console/agent-requests', { title: 'Counts the stock' })
  const grants = await call('GET', '/console/grants', owner.credential)

  const leaving = async (name: string, role: string): Promise<Credential> =>
    (await signIn(name, role === 'owner' ? `${name}-${unique}` : workspace, role)).credential
  return {
    credentials: {
      access,
      callback: run.credential,
      surface: bearer(surface.token),
      sandbox: vendor.sandbox,
      owner: owner.credential,
      member: member.credential,
    },
    spares: {
      'console.session.end': await leaving('signs-out', 'member'),
      'console.me.delete': await leaving('deletes-all', 'member'),
      'console.workspace.leave': await leaving('leaves', 'member'),
      'console.workspace.delete': await leaving('closes', 'owner'),
    },
    ending: { credential: ending.credential, ids: { run: ending.id } },
    ids: {
      run: run.id,
      step: approval.step_id,
      webhook: webhook.id,
      delivery: delivery.id,
      task: task.id,
      conversation: (await asOwner('/console/conversations', { installation_id: installation })).id,
      file: (await call('POST', '/api/v1/files', access, file)).id,
      installation,
      grant: grants.items[0].id,
      user: member.user,
      invitation: (await asOwner('/console/invitations')).id,
      agentRequest: wish.id,
      review: review.id,
      abuseReport: report.id,
      workspace,
      ...(await createMessenger(making, owner.credential)),
    },
    buckets: [...[`user:${owner.user}`, `user:${member.user}`], ...[`app:${app.id}`, `agent-calls:${installation}`]],
  }
}

/** Plays a customer who consents to everything, and the app that redeems the code. */
const install = async ({ platform: { baseUrl }, call }: WorldContext, { app }: Vendor, workspace: string) => {
  const { client_id, client_secret } = app
  const { verifier, challenge } = pkce()
  const url = new URL(`${baseUrl}/oauth/authorize`)
  url.search = new URLSearchParams({
    client_id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }).toString()
  const code = (await consent(baseUrl, url, workspace)).searchParams.get('code')
  const redemption = { grant_type: 'authorization_code', client_id, client_secret, code, code_verifier: verifier }
  return call('POST', '/oauth/token.json', {}, redemption)
}
