import { iso } from '#shared/kernel/clock.ts'
import type { CardWatch } from './entity.ts'

/** Presents the change about which the developer is notified. */
export const presentChange = ({ found_at, problem }: NonNullable<CardWatch['change']>) => ({
  found_at: iso(found_at),
  ...(problem !== undefined && { problem }),
})
