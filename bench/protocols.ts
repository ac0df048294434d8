import { costOf, total } from './cost/usage.ts'
import { MCP_CALL, MCP_LIST } from './endpoints/mcp.ts'
import type { StoreUse } from './endpoints.ts'
import { fixed, type Table } from './report/table.ts'

const A2A = '/a2a/agents/{id}'

/** Calls by their names in the tables of endpoints. */
const CALLS: [group: string, calls: [what: string, endpoint: string][]][] = [
  [
    'A2A',
    [
      [
        'card (`GET …/agent-card.json`), which clients cache for five minutes',
        `GET ${A2A}/.well-known/agent-card.json`,
      ],
      ['message that starts a task and returns at once', `POST ${A2A}/message:send`],
      ['message whose task is streamed, until the first silence', `POST ${A2A}/message:stream`],
      ['`GetTask`', `GET ${A2A}/tasks/{task}`],
      ['`ListTasks`: one task', `GET ${A2A}/tasks`],
      ['`CancelTask`', `POST ${A2A}/tasks/{task}:cancel`],
      ['push notification configuration', `POST ${A2A}/tasks/{task}/pushNotificationConfigs`],
      ['notification of an outside agent', 'POST /a2a/push/{id}'],
    ],
  ],
  [
    'MCP',
    [
      ['`tools/list`: 100 agents', `POST /mcp: ${MCP_LIST}`],
      ['`tools/call` of a platform tool that reads (`list_runs`)', `POST /mcp: ${MCP_CALL}`],
      [
        '`tools/call` of an agent’s tool, answered at once, with its run',
        'POST /mcp: tools/call of an agent’s tool, answered at once',
      ],
    ],
  ],
]

/** Builds the tables with what calls of the protocols cost in the store. */
export const protocolTables = ({ requests }: Pick<StoreUse, 'requests'>): Table[] =>
  CALLS.map(([protocol, calls]) => ({
    title: `The store’s cost of a million ${protocol} calls, in US dollars`,
    columns: ['call', 'a million'],
    rows: calls.map(([what, name]) => {
      const found = requests.find((one) => one.name === name)
      if (!found) throw new Error(`Nothing was measured for ${name}`)
      const { readUnits, writeUnits } = found.consumption
      return [what, fixed(costOf(total([{ readUnits, writeUnits }, 1e6])).dynamodb, 2)]
    }),
  }))
