import type { Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

const waitingForDecision = async (stage: Stage) => {
  const app = await stage.install({ endpoint: `${stage.agent.url}/slow` })
  const run = await stage.runningRun(app)
  const { body } = await stage.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: run.token,
    body: { arguments: { url: `${stage.agent.url}/page` } },
  })
  return { app, run, stepId: String(body.step_id) }
}

export const consoleScenarios: readonly Scenario[] = [
  {
    endpoint: 'POST /console/session',
    variant: 'a known person',
    async prepare(stage) {
      const body = { user: 'grace', workspace: 'bench-acme' }
      const send = () => stage.call('POST', '/console/session', { body })
      await send()
      return { send }
    },
  },
  {
    endpoint: 'GET /console/runs',
    variant: '20 of them',
    async prepare(stage) {
      const app = await stage.install()
      await stage.finishedRuns(app, 21)
      return { send: () => stage.call('GET', '/console/runs?limit=20', { token: app.person.token }) }
    },
  },
  ...['approve', 'reject'].map(
    (decision): Scenario => ({
      endpoint: 'POST /console/runs/{id}/steps/{step}/decision',
      variant: decision,
      async prepare(stage) {
        const { app, run, stepId } = await waitingForDecision(stage)
        const path = `/console/runs/${run.id}/steps/${stepId}/decision`
        return { send: () => stage.call('POST', path, { token: app.person.token, body: { decision } }) }
      },
    }),
  ),
]
