/** Tool call that the model requests. */
export interface ModelCall {
  /** Id given by the model, unique within its turn. */
  id: string
  tool: string
  /** Undefined if the model did not write a JSON object. */
  arguments: Record<string, unknown> | undefined
}

/** Message of a conversation with a language model. */
export type ModelMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: readonly ModelCall[] }
  | { role: 'tool'; results: readonly { id: string; tool: string; text: string }[] }

/** Request for one turn of the model. */
export interface ModelRequest {
  /** Undefined for the deployment's default. */
  model: string | undefined
  /** The system prompt. */
  instructions: string
  /** Oldest first. */
  messages: readonly ModelMessage[]
  tools: readonly { name: string; description: string; inputSchema: Record<string, unknown> }[]
  /** Ends the turn early. */
  signal: AbortSignal
}

/** Response of a model. */
export interface ModelAnswer {
  kind: 'answer'
  text: string
  /** Empty in the last turn. */
  calls: ModelCall[]
  /** `length` if the text was cut off, `refused` if the provider withheld it. */
  end: 'whole' | 'length' | 'refused'
  inputTokens: number
  outputTokens: number
}

/** Failed turn, after all useful retries. */
export interface ModelFailure {
  kind: 'failure'
  /** Description for the agent's developer. Never contains the key. */
  message: string
  /** The provider's HTTP status, if it responded. */
  status?: number
  /** The beginning of the provider's response, without the key. */
  body?: string
}

/** Language model that inline agents run on (contract/runs.md#inline-agents). */
export interface LanguageModel {
  /** Takes one turn. Requested tool calls are returned, not executed. Never throws for a failure of the provider. */
  turn(request: ModelRequest): Promise<ModelAnswer | ModelFailure | { kind: 'not_configured' }>
}
