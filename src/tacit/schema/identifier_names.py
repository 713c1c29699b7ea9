"""Names of columns, by language, that say that values are one person's, or tell persons apart with other columns."""

from __future__ import annotations

import re
import unicodedata


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case without accents: ``IDs``, ``CamelCase`` and digits part them too."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.replace("IDs", "Ids"))
    parted = re.sub(r"(?<=[^\x00-\u02ff])(?=[A-Za-z])", "_", _plain(parted))  # a word in another script, and "ID"
    words = re.findall(r"[^\W\d_]+", parted.casefold())
    return words[:-1] if len(words) > 1 and words[-1] in DISGUISES else words


def _plain(text: str) -> str:
    """A text without accents, marks and invisible characters."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) not in ("Mn", "Cf"))


def _table(text: str) -> frozenset[str]:
    return frozenset(_plain(text).casefold().split())


DISGUISES = _table("""
hash hashed encrypted masked anon anonymised anonymized pseudonymised home work privat private office primary secondary
old new raw clean
""")
"""What is said last of the name of an identifier that was made another one, or is one of several."""

ALONE = _table("""
id ids uid uuid guid mrn ssn nino npi iban imei passport email phone telephone msisdn identifier pseudonym username
login surname lastname firstname forename fullname rowid pid ipaddress macaddress initials
licenseplate givenname nickname subjid usubjid ptid studyid hhid seqn objectid orcid
cpr bsn cpf curp aadhaar aadhar tfn nss rfc imsi iccid bankaccount emailaddress screenname namefirst namelast
homeaddress streetaddress mailingaddress postaladdress birthname maidenname socialsecurity nationalinsurance
vorname nachname familienname geburtsname kennung aktenzeichen idnr svnr kdnr fallnr fallnummer personnummer matrikel
kontonummer versicherungsnummer telefon handynummer steuerid kfzkennzeichen reisepass kurzel initialen
prenom nomfamille nomcomplet identifiant securitesociale cni nir
apellido apellidos cedula telefono nombrecompleto seguridadsocial pasaporte dni nif nie
cognome codicefiscale partitaiva telefone sobrenome nomecompleto passaporte
voornaam achternaam efternamn fornavn etternavn fødselsnummer fodselsnummer henkilotunnus imie nazwisko pesel prijmeni
jmeno oib cnp egn paspoort rijksregisternummer adsoyad tckimlik
имя фамилия отчество фио телефон паспорт снилс инн прізвище
姓名 名前 氏名 身份证 身份证号 手机 手机号 电话 電話 電話番号 护照 マイナンバー 이름 성명 전화번호 주민등록번호
الاسم هاتف जन्मनाम
""")
"""Words that make an identifier of a name whose last word, or last two, they are: ``FirstName``, ``ip_address``."""

HOLDERS = _table("""
patient patienten person customer kunden client member mitglieds respondent subject participant user employee
personal student pupil passenger applicant household family case record account policy order invoice claim encounter
admission loan contract ticket transaction row serial donor voter taxpayer citizen card phone insurance
versicherten sozialversicherungs cust lfd laufende matrikel steuer pat nhs emp acct hosp
security passport licence license registration national tax vehicle device borrower guest tenant
paciente paziente cliente usuario empleado estudiante persona staff badge subj dossier receipt mitarbeiter vertrags
probanden teilnehmer rechnungs bestell auftrags krankenkassen handy ausweis expediente assure salarie employe
acc vat cc dl chassis mobile iban
患者 会員 会员 顧客 客户 社員 员工 学生 住民 환자 고객 회원 пациент пациента клиент клиента
""")
"""Who or what is numbered one by one."""

NUMBERS = _table("no nr num nbr number nummer numero key name plate 番号 編号 编号 号 번호 номер")
"""Words that make an identifier of a name where a holder stands before them."""

PERSONS = _table("""
patient person respondent subject participant client customer member student who whom owner badge ticket handle
mobile cellphone cellnumber celular cellulare fax faxnumber tel handy account konto cuenta compte conto
creditcard debitcard kreditkarte tarjeta platenumber kennzeichen matricula folio expediente dossier akte akz rut ruc ein
nhs vatid vatnumber abn barcode kunde klient paciente proband teilnehmer utente usuario
""")
"""Names of columns of more than a few values, numbers or texts, that may tell persons apart."""

NAMED = _table("""
name names nom noms nombre nombres nome naam namn navn nimi isim nick alias address addr adresse adres adress anschrift
direccion domicilio indirizzo endereco morada street strasse rue calle straat ulica ortstrasse mail url website homepage
twitter twitterhandle instagram facebook ip ipaddr mac cookie vin plate numberplate licenceplate licence placa
immatriculation signature unterschrift 住所 地址 주소 адрес عنوان नाम
""")
"""The same, of texts alone: a street, or ``nombre``, which is a number in French."""

APART = _table("""
dob bday birthdate birthday dateofbirth gebdat gebdatum geburtsdatum geburtstag datenaissance datedenaissance
fechanacimiento fechadenacimiento datanascita datadinascita datanascimento datadenascimento geboortedatum
fodelsedatum fødselsdato fodselsdato dataurodzenia датарождения 生年月日 出生日期 생년월일
lat lon lng latitude longitude latlon latlong latitud longitud latitudine longitudine breitengrad langengrad gps
geolocation zip zipcode postcode postalcode plz postleitzahl codepostal codigopostal cep eircode pincode postnummer
postnr 邮编 郵便番号 우편번호
""")
"""Names of a day of birth or a place, which tell persons apart together with other columns."""

QUANTITIES = _table("""
income salary wage wages pay earnings revenue sales turnover profit price cost costs amount balance budget debt assets
premium rent fee value worth population pop inhabitants residents votes visits views clicks count total sum sqft sqm
area feet foot metres meters km miles mileage distance length height width depth size volume weight grams kg bytes time
timestamp epoch date seconds minutes hours duration year age ages score minute hour day week month temperature degrees
""")
"""Words that make a quantity of a name: its numbers may be long, and all differ, without telling persons apart."""

SHARES = _table("freq frequency count share rate ratio pct percent mean avg n")
"""Words before the name of an identifier that make a quantity of it."""


COMPOUNDS = frozenset(
    word for holder in HOLDERS for word in ("id" + holder, *(holder + end for end in NUMBERS - {"name"}), holder + "id")
)
"""An identifier in one word: ``userid``, ``idcliente``, ``patientno``."""


def names_identifier(name: str) -> bool:
    """Whether a column is called an identifier: ``PassengerId``, ``patient_no``, ``MRN``, ``e-mail``, ``userid``."""
    words = words_of(name)
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ALONE and last not in ("id", "ids") and SHARES & set(words[:-1]):  # word_freq_email
        return False
    if last in ALONE or (before + last in ALONE and len(before + last) > len("ids")):
        return True
    if (last in NUMBERS and before in HOLDERS) or (words[0] in ("id", "numero", "nro") and last in HOLDERS):
        return True
    return last in COMPOUNDS


def names_holder(name: str) -> bool:
    """Whether it is one of persons, or of things numbered one by one, however few a sample has."""
    words = words_of(name)
    alone = len(words) == 1 or words[-1] not in ("id", "ids", "uid")
    return alone or bool(HOLDERS & set(words)) or any(words[-1].startswith(holder) for holder in HOLDERS)


def names_persons(name: str, numbers: bool) -> bool:
    """Whether more than a few values of such a name, numbers or texts, may tell persons apart."""
    return "".join(words_of(name)) in (PERSONS if numbers else PERSONS | NAMED)


def tells_apart(name: str) -> bool:
    """Whether a column is called a day of birth or a place."""
    words = words_of(name)
    return any("".join(words[-number:]) in APART for number in (1, 2, 3))


def names_quantity(name: str) -> bool:
    """Whether a word of a name is that of a quantity."""
    return not QUANTITIES.isdisjoint(words_of(name))
