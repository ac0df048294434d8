import type { ToolName } from '#shared/agents/tools/catalogue.ts'
import type { Request, Scenario } from './scenario.ts'
import type { Installed, Stage } from './stage.ts'

interface Calling {
  stage: Stage
  /** Agent whose run calls the tool. */
  app: Installed
  token: string
}

/** Way to call a tool. */
interface Call {
  variant?: string
  /** Creates the call's arguments and the records that they name. */
  arguments(calling: Calling): unknown
  /** Runs between a first, equal call and the measured one. */
  after?(calling: Calling, first: { step_id: string }): Promise<unknown>
  works?: true
}

const ENDPOINT = 'POST /api/v1/tools/{name}/invoke'

const page = ({ stage }: Calling) => ({ url: `${stage.agent.url}/page` })

/** Creates another agent in the caller's workspace. */
const colleague = async ({ stage, app }: Calling): Promise<string> =>
  (await stage.installWithTool({ workspaceId: app.workspaceId })).app.slug

const newTask = async ({ stage, token }: Calling): Promise<string> => {
  const body = { arguments: { title: 'Count the bolts' } }
  const answer = await stage.call('POST', '/api/v1/tools/create_task/invoke', { token, body })
  return answer.body.result.task_id
}

const TOOLS: Record<ToolName, readonly Call[]> = {
  workspace_info: [{ arguments: () => ({}) }],
  list_runs: [{ arguments: () => ({}) }],
  emit_event: [{ arguments: () => ({ type: 'stock.low', data: { left: 3 } }) }],
  notify_user: [{ arguments: () => ({ title: 'Low stock', body: 'Three bolts are left.' }) }],
  create_task: [{ arguments: () => ({ title: 'Count the bolts' }) }],
  delegate_task: [
    {
      variant: 'starts it',
      arguments: async (calling) => ({ agent: await colleague(calling), title: 'Count the bolts' }),
    },
  ],
  ask_agent: [
    {
      variant: 'answered at once',
      arguments: async (calling) => ({ agent: await colleague(calling), tool: 'greet', arguments: { name: 'Ada' } }),
      works: true,
    },
  ],
  my_tasks: [
    {
      arguments: async (calling) => {
        await newTask(calling)
        return {}
      },
    },
  ],
  ask_user: [
    {
      variant: 'about a task',
      arguments: async (calling) => ({ question: 'Which of the two?', task_id: await newTask(calling) }),
    },
  ],
  save_file: [{ arguments: () => ({ name: 'stock.csv', content: 'bolts,3' }) }],
  http_fetch: [
    { variant: 'asks for approval', arguments: page },
    {
      variant: 'takes the result',
      arguments: page,
      async after({ stage, app }, { step_id }) {
        const { body } = await stage.call('GET', '/console/runs?limit=1', { token: app.person.token })
        await stage.call('POST', `/console/runs/${body.items[0].id}/steps/${step_id}/decision`, {
          token: app.person.token,
          body: { decision: 'approve' },
        })
        await stage.platform.drain()
      },
    },
  ],
}

const prepare = async (stage: Stage, tool: string, call: Call): Promise<Request> => {
  const app = await stage.install({ endpoint: `${stage.agent.url}/slow` })
  const calling = { stage, app, token: (await stage.runningRun(app)).token }
  const body = { arguments: await call.arguments(calling) }
  const send = () => stage.call('POST', `/api/v1/tools/${tool}/invoke`, { token: calling.token, body })
  if (call.after) await call.after(calling, (await send()).body)
  return { send, works: call.works }
}

/** Scenarios in which the agent of an active run calls each tool with its callback token. */
export const toolScenarios: readonly Scenario[] = Object.entries(TOOLS).flatMap(([tool, calls]) =>
  calls.map((call) => ({
    endpoint: ENDPOINT,
    variant: call.variant ? `${tool}, ${call.variant}` : tool,
    prepare: (stage) => prepare(stage, tool, call),
  })),
)
