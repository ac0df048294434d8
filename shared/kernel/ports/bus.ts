/** Progress of a put. The first `taken` events are on the bus. Later ones may be as well and must be put again. */
export interface PutResult {
  taken: number
  /** Reason for stopping before the last event. */
  error?: unknown
}

/** Event on the bus. Rules route it by its type. */
export interface BusEvent {
  readonly type: string
}

/** Event bus. Accepts any number of events, in order. */
export interface EventBus<E extends BusEvent = BusEvent> {
  put(events: readonly E[]): Promise<PutResult>
}
