import { folded } from '../../../ui/folded.ts'
import { t } from '../../../ui/messages.ts'
import { Logo, Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

export type Agent = Schemas['AssignableAgent']

/** Agents that the list shows at once. */
const MOST = 8

/** Finds the agents to offer for what was typed behind `@`. @param own the one that answers anyway */
export const matching = (agents: readonly Agent[], typed: string, own: string | null | undefined): Agent[] =>
  agents
    .filter(({ installation_id, name }) => installation_id !== own && folded(name).includes(folded(typed.trim())))
    .slice(0, MOST)

/** Says what the list offers, for screen readers. */
export const statusOf = (options: readonly Agent[]): string =>
  t('{n, plural, one {# agent} other {# agents}} to mention. Press Enter to choose, or an arrow key.', {
    n: options.length,
  })

export const MentionList = ({
  id,
  options,
  chosen,
  optionId,
  onChoose,
}: {
  id: string
  options: readonly Agent[]
  chosen: Agent
  optionId: (agent: Agent) => string
  onChoose: (agent: Agent) => void
}) => (
  <div id={id} class="mention-list" role="listbox" aria-label={t('Agents to mention')}>
    {options.map((agent) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the text field takes the keys
      <div
        key={agent.installation_id}
        id={optionId(agent)}
        role="option"
        tabIndex={-1}
        aria-selected={agent === chosen}
        // Before the text field loses the focus.
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => onChoose(agent)}
      >
        <Logo name={agent.name} path={agent.logo_path} />
        <Name>{agent.name}</Name>
      </div>
    ))}
  </div>
)

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
