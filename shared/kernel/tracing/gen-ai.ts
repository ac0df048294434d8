import type { Attributes } from '../ports/traces.ts'
import type { TokenUsage } from '../token-usage.ts'

/**
 * Spans of agents, tools and models by the names of OpenTelemetry's GenAI conventions (`semantic-conventions-genai` 0.1), by which
 * observability tools know them. The names still move, so they stand in this file only. No attribute holds content.
 */
interface Described {
  name: string
  attributes: Attributes
}

const operation = (name: string): Attributes => ({
  'gen_ai.operation.name': name,
  'gen_ai.provider.name': 'agent-platform',
})

export interface InvokedAgent {
  id: string
  name: string
  version: string | undefined
  conversation: string | undefined
}

/** Describes the call of an agent, or the work of one that the platform runs. */
export const agentSpan = ({ id, name, version, conversation }: InvokedAgent): Described => ({
  name: `invoke_agent ${name}`,
  attributes: {
    ...operation('invoke_agent'),
    'gen_ai.agent.id': id,
    'gen_ai.agent.name': name,
    'gen_ai.agent.version': version,
    'gen_ai.conversation.id': conversation,
  },
})

/** Describes a call of one of the platform's tools. */
export const toolSpan = (tool: string): Described => ({
  name: `execute_tool ${tool}`,
  attributes: {
    ...operation('execute_tool'),
    'gen_ai.tool.name': tool,
    'gen_ai.tool.type': 'function',
  },
})

/** Describes a turn of a model that has the OpenAI-compatible API. */
export const modelSpan = (model: string): Described => ({
  name: `chat ${model}`,
  attributes: {
    ...operation('chat'),
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
  },
})

/** Describes what a turn of a model brought. */
export const turnAttributes = (usage: TokenUsage, finishReason: string | undefined): Attributes => ({
  'gen_ai.usage.input_tokens': usage.input_tokens,
  'gen_ai.usage.output_tokens': usage.output_tokens,
  'gen_ai.usage.cache_read.input_tokens': usage.cached_tokens,
  'gen_ai.usage.reasoning.output_tokens': usage.reasoning_tokens,
  'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
})
