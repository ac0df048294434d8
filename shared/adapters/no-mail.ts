import type { Mail } from '../kernel/ports/mail.ts'

/** Stand-in for functions without the capability `mail`. */
export const noMail: Mail = {
  send: () => {
    throw new Error('this function does not declare the capability mail')
  },
}
