import { LOCAL_ADMIN } from '#shared/domain/admins/local.ts'
import type { Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

const admin = { 'x-admin-key': LOCAL_ADMIN.key }

/** What a moderator does with an app. */
const moderate = (verb: string, prior: string[] = [], body?: unknown): Scenario => ({
  endpoint: `POST /admin/apps/{id}/${verb}`,
  async prepare(stage) {
    const { id } = await stage.submitted()
    const act = (what: string, sent?: unknown) =>
      stage.call('POST', `/admin/apps/${id}/${what}`, { headers: admin, ...(sent !== undefined && { body: sent }) })
    for (const step of prior) await act(step, step === 'suspend' ? { reason: 'A check.' } : undefined)
    return () => act(verb, body)
  },
})

const waitingForDecision = async (stage: Stage) => {
  const app = await stage.install({ endpoint: `${stage.agent.url}/slow` })
  const run = await stage.runningRun(app)
  const { body } = await stage.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: run.token,
    body: { arguments: { url: `${stage.agent.url}/page` } },
  })
  return { app, run, stepId: String(body.step_id) }
}

export const consoleScenarios: Scenario[] = [
  {
    endpoint: 'POST /console/session',
    variant: 'a known person',
    async prepare(stage) {
      const body = { user: stage.unique('grace'), workspace: stage.unique('acme') }
      const send = () => stage.call('POST', '/console/session', { body })
      await send()
      return send
    },
  },
  {
    endpoint: 'POST /console/installations',
    async prepare(stage) {
      const { id, slug } = await stage.submitted()
      await stage.call('POST', `/admin/apps/${id}/approve`, { headers: admin })
      const { person } = await stage.install()
      return () => stage.call('POST', '/console/installations', { token: person.token, body: { slug } })
    },
  },
  {
    endpoint: 'GET /console/installations',
    async prepare(stage) {
      const { person } = await stage.install()
      return () => stage.call('GET', '/console/installations', { token: person.token })
    },
  },
  {
    endpoint: 'GET /console/runs',
    variant: '20 of them',
    async prepare(stage) {
      const app = await stage.install()
      await stage.finishedRuns(app, 21)
      return () => stage.call('GET', '/console/runs?limit=20', { token: app.person.token })
    },
  },
  {
    endpoint: 'GET /console/runs/{id}',
    async prepare(stage) {
      const app = await stage.install()
      const [id] = await stage.finishedRuns(app, 1)
      return () => stage.call('GET', `/console/runs/${id}`, { token: app.person.token })
    },
  },
  ...['approve', 'reject'].map(
    (decision): Scenario => ({
      endpoint: 'POST /console/runs/{id}/steps/{step}/decision',
      variant: decision,
      async prepare(stage) {
        const { app, run, stepId } = await waitingForDecision(stage)
        const path = `/console/runs/${run.id}/steps/${stepId}/decision`
        return () => stage.call('POST', path, { token: app.person.token, body: { decision } })
      },
    }),
  ),
]

export const adminScenarios: Scenario[] = [
  {
    endpoint: 'POST /admin/auth/login',
    async prepare(stage) {
      const { email, password } = LOCAL_ADMIN
      const send = () => stage.call('POST', '/admin/auth/login', { body: { email, password } })
      await send()
      return send
    },
  },
  moderate('approve'),
  moderate('reject', [], { reason: 'The summary says too little.' }),
  moderate('suspend', ['approve'], { reason: 'A check.' }),
  moderate('unsuspend', ['approve', 'suspend']),
]
