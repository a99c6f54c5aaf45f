/**
 * Texts of the fields in each available language.
 * @module
 */
import type { Labels } from '../protocol.ts'

type Texts = Omit<Labels, 'language'>

const common = { numberPlaceholder: '1234 1234 1234 1234', cvcPlaceholder: 'CVC' }

const en: Texts = {
  ...common,
  frame: 'Card details',
  number: 'Card number',
  expiry: 'Expiry date',
  cvc: 'Security code',
  name: 'Name on card',
  expiryPlaceholder: 'MM / YY',
  namePlaceholder: '',
  numberIncomplete: 'Enter the whole card number.',
  numberInvalid: 'This is no card number. Check its digits.',
  expiryIncomplete: 'Enter month and year, as 08 / 31.',
  expiryInvalid: 'The month is from 01 to 12.',
  expiryPast: 'This date is past. Check month and year.',
  cvcIncomplete: 'Enter the whole security code.',
  cvcInvalid: 'The security code of this card is shorter.',
  nameIncomplete: 'Enter the name as it is on the card.',
}

const de: Texts = {
  ...common,
  frame: 'Kartendaten',
  number: 'Kartennummer',
  expiry: 'Gültig bis',
  cvc: 'Prüfziffer',
  name: 'Name auf der Karte',
  expiryPlaceholder: 'MM / JJ',
  namePlaceholder: '',
  numberIncomplete: 'Bitte geben Sie die ganze Kartennummer ein.',
  numberInvalid: 'Das ist keine Kartennummer. Bitte prüfen Sie die Ziffern.',
  expiryIncomplete: 'Bitte geben Sie Monat und Jahr ein, etwa 08 / 31.',
  expiryInvalid: 'Der Monat liegt zwischen 01 und 12.',
  expiryPast: 'Das Datum liegt in der Vergangenheit. Bitte prüfen Sie Monat und Jahr.',
  cvcIncomplete: 'Bitte geben Sie die ganze Prüfziffer ein.',
  cvcInvalid: 'Die Prüfziffer dieser Karte ist kürzer.',
  nameIncomplete: 'Bitte geben Sie den Namen ein, wie er auf der Karte steht.',
}

const fr: Texts = {
  ...common,
  frame: 'Coordonnées de la carte',
  number: 'Numéro de carte',
  expiry: 'Date d’expiration',
  cvc: 'Code de sécurité',
  name: 'Nom sur la carte',
  expiryPlaceholder: 'MM / AA',
  namePlaceholder: '',
  numberIncomplete: 'Saisissez le numéro de carte complet.',
  numberInvalid: 'Ce numéro de carte n’est pas valide. Vérifiez ses chiffres.',
  expiryIncomplete: 'Saisissez le mois et l’année, par exemple 08 / 31.',
  expiryInvalid: 'Le mois va de 01 à 12.',
  expiryPast: 'Cette date est passée. Vérifiez le mois et l’année.',
  cvcIncomplete: 'Saisissez le code de sécurité complet.',
  cvcInvalid: 'Le code de sécurité de cette carte est plus court.',
  nameIncomplete: 'Saisissez le nom tel qu’il figure sur la carte.',
}

const es: Texts = {
  ...common,
  frame: 'Datos de la tarjeta',
  number: 'Número de tarjeta',
  expiry: 'Fecha de caducidad',
  cvc: 'Código de seguridad',
  name: 'Nombre en la tarjeta',
  expiryPlaceholder: 'MM / AA',
  namePlaceholder: '',
  numberIncomplete: 'Introduzca el número de tarjeta completo.',
  numberInvalid: 'Este número de tarjeta no es válido. Compruebe sus dígitos.',
  expiryIncomplete: 'Introduzca el mes y el año, por ejemplo 08 / 31.',
  expiryInvalid: 'El mes va de 01 a 12.',
  expiryPast: 'Esta fecha ya ha pasado. Compruebe el mes y el año.',
  cvcIncomplete: 'Introduzca el código de seguridad completo.',
  cvcInvalid: 'El código de seguridad de esta tarjeta es más corto.',
  nameIncomplete: 'Introduzca el nombre tal como figura en la tarjeta.',
}

const ja: Texts = {
  ...common,
  frame: 'カード情報',
  number: 'カード番号',
  expiry: '有効期限',
  cvc: 'セキュリティコード',
  name: 'カード名義人',
  expiryPlaceholder: '月 / 年',
  namePlaceholder: '',
  numberIncomplete: 'カード番号を最後まで入力してください。',
  numberInvalid: 'カード番号が正しくありません。番号をご確認ください。',
  expiryIncomplete: '月と年を入力してください（例：08 / 31）。',
  expiryInvalid: '月は01から12までです。',
  expiryPast: '有効期限が過ぎています。月と年をご確認ください。',
  cvcIncomplete: 'セキュリティコードを最後まで入力してください。',
  cvcInvalid: 'このカードのセキュリティコードはもっと短いものです。',
  nameIncomplete: 'カードに記載されている名前を入力してください。',
}

/** By the first part of a language tag. */
export const textsByLanguage: Readonly<Record<string, Texts>> = { en, de, fr, es, ja }
