import { api, type Schemas, unwrap } from '../api.ts'

type Agent = Schemas['AssignableAgent']

/** Loads the agents that answer conversations. */
export const loadAgents = async (): Promise<Agent[]> => {
  const agents: Agent[] = []
  let cursor: string | undefined
  do {
    const query = { all: 'true' as const, limit: 100, ...(cursor && { cursor }) }
    const page = await unwrap(api.GET('/console/agents', { params: { query } }))
    agents.push(...page.items.filter(({ answers_chats }) => answers_chats))
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  return agents
}
