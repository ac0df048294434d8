/**
 * Console. It uses the public console API only. Text from apps and users is always set as text, never as markup.
 */
import { startInKeptLanguage } from '../../session/language.ts'

// Another language's script runs instead of the page, never next to it: both share libraries.
if (!startInKeptLanguage()) import('./page.tsx').catch(() => window.startAgain?.())
