/** Fails the run with one of the agent's own codes. Customers see code and message, so don't include stack traces. */
export class AgentError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'AgentError'
    this.code = code
  }
}

/** Reason of `run.signal` when the run ended without this agent: it was cancelled, or its time was up. */
export class RunEnded extends Error {
  constructor() {
    super('The run has ended.')
    this.name = 'RunEnded'
  }
}

/** Thrown through the agent's code when the run waits for a person, and starts again with the decision. Don't catch it. */
export class Suspended extends Error {
  constructor() {
    super('The run waits for a person. The agent is called again with the decision.')
    this.name = 'Suspended'
  }
}

/** The agent's answer can't be sent. */
export class UnsendableAnswer extends AgentError {
  constructor(problem: string) {
    super('agent_invalid_response', `The agent’s answer can’t be sent: ${problem}`)
    this.name = 'UnsendableAnswer'
  }
}
