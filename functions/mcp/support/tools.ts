import { type FoundAgent, listCallableAgents } from '#shared/agents/calls/index.ts'
import {
  isDenied,
  isPersonTool,
  PERSON_INPUT_SCHEMAS,
  PERSON_TOOLS,
  type PersonToolName,
  personToolRefusal,
} from '#shared/agents/person-tools/index.ts'
import { listTools, loadToolRefusal, TOOLS } from '#shared/agents/tools/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { IntegrationCaller, PersonCaller } from '#shared/http/callers.ts'
import type { PlatformError } from '#shared/kernel/errors.ts'
import { cleanText, quoteName } from '#shared/kernel/names.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { isPerson, loadAskRefusal, type McpCaller, mayListAgents } from './caller.ts'
import type { Capability } from './capabilities.ts'
import { listedSchema } from './headers.ts'

/** A tool as `tools/list` shows it, with what it calls. */
export interface McpTool {
  name: string
  description: string
  inputSchema: Record<string, unknown>
  annotations: Record<string, boolean | string>
}

type DeclaredForMcp = NonNullable<FoundAgent['tools'][number]['mcp']>

export interface AgentTool extends McpTool {
  agent: FoundAgent
  tool: string
  /** As declared, for the headers that it asks for. */
  declared: Record<string, unknown>
  requires: readonly Capability[]
  task: 'never' | 'auto' | 'always'
}

const LONGEST_NAME = 64
const KEPT = 55

/** Begins the names of tools whose agent's slug begins with a digit: some models accept no such name, nor tools next to it. */
const BEFORE_DIGIT = 'a_'

/** Returns the name of an agent's tool among those of all agents. */
const toolName = (slug: string, tool: string): string => {
  const name = `${/^\d/.test(slug) ? BEFORE_DIGIT : ''}${slug}__${tool}`
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, KEPT)}_${sha256(name).slice(0, 8)}`
}

/** Splits the name of an agent's tool. A slug has no underscore, so none begins with the letter for digits. */
export const partsOf = (name: string): { slug: string; tool: string } => {
  const [slug = '', ...rest] = (name.startsWith(BEFORE_DIGIT) ? name.slice(BEFORE_DIGIT.length) : name).split('__')
  return { slug, tool: rest.join('__') }
}

const HINTS = {
  read: { readOnlyHint: true },
  write: { readOnlyHint: false, destructiveHint: false },
  dangerous: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
} as const satisfies Record<string, Record<string, boolean>>

const toolsOf = (agent: FoundAgent, nameOf: (slug: string, tool: string) => string): AgentTool[] =>
  agent.tools.map((tool) => ({
    name: nameOf(agent.app.slug, tool.name),
    // The reader, often a model, sees whose words these are.
    description: `${quoteName(agent.installation.app_name)} (an agent of this workspace) says: ${cleanText(tool.description)}`,
    inputSchema: listedSchema(tool.input_schema),
    annotations: annotationsOf(tool.mcp?.annotations),
    agent,
    tool: tool.name,
    declared: tool.input_schema,
    requires: tool.mcp?.requires ?? [],
    task: tool.mcp?.task ?? 'auto',
  }))

/** Hints as declared. The title is the agent's text. */
const annotationsOf = ({
  title,
  ...hints
}: NonNullable<DeclaredForMcp['annotations']> = {}): McpTool['annotations'] => {
  const declared = Object.fromEntries(Object.entries(hints).filter(([, value]) => value !== undefined))
  return {
    ...(title !== undefined && { title: cleanText(title) }),
    ...(Object.keys(declared).length > 0 ? declared : { openWorldHint: true }),
  }
}

/** Lists the agents that the caller could ask now. A person may ask every one that works. */
const listAgentsFor = (deps: Deps, caller: McpCaller, slug: string | undefined): Promise<FoundAgent[]> =>
  listCallableAgents(deps, isPerson(caller) ? { workspace: caller.workspace } : caller, slug)

const ASK = 'ask_agent' satisfies keyof typeof TOOLS

/**
 * Lists every tool that the caller may call: the platform's in catalogue order, then the agents', by slug.
 * @param inRun whether the request names a run. A callback token implies one.
 */
export const listEveryTool = (deps: Deps, caller: McpCaller, inRun: boolean): Promise<McpTool[]> =>
  isPerson(caller)
    ? listToolsForPerson(deps, caller)
    : listToolsForIntegration(deps, caller, inRun || caller.run !== undefined)

/** Lists the tools that the person may use. Tools that the host's consent doesn't cover are listed, too, because a new consent may. */
const listToolsForPerson = async (deps: Deps, caller: PersonCaller): Promise<McpTool[]> => {
  const agents = mayListAgents(caller) ? await listCallableAgents(deps, { workspace: caller.workspace }) : []
  const own = (Object.keys(PERSON_TOOLS) as PersonToolName[]).filter(
    (name) => !isDenied(caller, PERSON_TOOLS[name].scope),
  )
  return [
    ...own.map((name) => ({
      name,
      description: PERSON_TOOLS[name].description,
      inputSchema: PERSON_INPUT_SCHEMAS[name],
      annotations: HINTS[PERSON_TOOLS[name].risk],
    })),
    ...agents.flatMap((agent) => toolsOf(agent, toolName)),
  ]
}

const listToolsForIntegration = async (deps: Deps, caller: IntegrationCaller, inRun: boolean): Promise<McpTool[]> => {
  const [platform, agents] = await Promise.all([listTools(deps, caller), listCallableAgents(deps, caller)])
  // Outside a run, nobody could be asked for an approval.
  const allowed = platform.filter((tool) => tool.allowed && (inRun || tool.approval === 'none'))
  return [
    ...allowed.map(({ name, description, risk, input_schema }) => ({
      name,
      description,
      inputSchema: input_schema as Record<string, unknown>,
      annotations: HINTS[risk],
    })),
    ...(allowed.some(({ name }) => name === ASK) ? agents.flatMap((agent) => toolsOf(agent, toolName)) : []),
  ]
}

/** Lists the tools of one agent under their own names. Undefined if the caller couldn't ask the agent. */
export const listToolsOf = async (
  deps: Deps,
  caller: McpCaller,
  slug: string,
): Promise<{ tools: AgentTool[]; refusal: PlatformError | undefined } | undefined> => {
  const [[agent], refusal] = await Promise.all([listAgentsFor(deps, caller, slug), loadAskRefusal(deps, caller)])
  return agent && { tools: toolsOf(agent, (_, tool) => tool), refusal }
}

/** A tool that a name refers to. A caller that may not call it gets the `refusal`. */
export type Named =
  | { kind: 'platform'; name: string; refusal: PlatformError | undefined }
  | { kind: 'person'; name: PersonToolName; refusal: PlatformError | undefined }
  | { kind: 'agent'; tool: AgentTool; refusal: PlatformError | undefined }

/** Finds the tool of a name. */
export const findTool = async (
  deps: Deps,
  caller: McpCaller,
  name: string,
  args: Record<string, unknown>,
): Promise<Named | undefined> => {
  if (isPerson(caller) && isPersonTool(name)) {
    return { kind: 'person', name, refusal: personToolRefusal(caller, name, args) }
  }
  if (!isPerson(caller) && Object.hasOwn(TOOLS, name)) {
    return { kind: 'platform', name, refusal: await loadToolRefusal(deps, caller, name) }
  }
  const { slug } = partsOf(name)
  // A shortened name may have lost a part of its slug.
  const isShortened = name.length === LONGEST_NAME && /_[0-9a-f]{8}$/.test(name)
  const [agents, refusal] = await Promise.all([
    listAgentsFor(deps, caller, isShortened ? undefined : slug),
    loadAskRefusal(deps, caller),
  ])
  const tool = agents.flatMap((agent) => toolsOf(agent, toolName)).find((one) => one.name === name)
  return tool && { kind: 'agent', tool, refusal }
}
