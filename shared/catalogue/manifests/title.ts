import type { Check } from '#shared/kernel/json-schema/check-keyword.ts'
import { appendPointer } from '#shared/kernel/json-schema/finding.ts'
import type { JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import { findHiddenCharacter } from '#shared/kernel/names.ts'

/** Checks the title of a tool's schema or of a setting, which forms show as a label (contract/general.md#names). */
export const checkTitle = (check: Check, { title }: JsonObject, path: string): void => {
  const hidden = typeof title === 'string' ? findHiddenCharacter(title) : undefined
  if (hidden !== undefined)
    check.errors.add(
      appendPointer(path, 'title'),
      `The title contains ${hidden}.`,
      'Use one line without control, direction or invisible characters.',
    )
}
