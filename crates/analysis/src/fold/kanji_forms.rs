//! Old forms of kanji, and the new forms that they are folded to.

use std::sync::LazyLock;

const FIRST: u32 = 0x4E00;
const LAST: u32 = 0x9FFF;

/// Pairs of an old form and its new form.
const PAIRS: &str = "\
    亞亜惡悪壓圧圍囲醫医爲為壹壱稻稲飮飲隱隠營営榮栄衞衛驛駅圓円緣縁艷艶鹽塩奧奥應応橫横歐欧\
    毆殴黃黄溫温穩穏假仮價価畫画會会壞壊懷懐繪絵擴拡殼殻覺覚學学嶽岳樂楽渴渇鐮鎌勸勧卷巻寬寛\
    歡歓罐缶觀観關関陷陥巖巌顏顔歸帰氣気龜亀僞偽戲戯犧犠舊旧據拠擧挙峽峡挾挟狹狭敎教强強鄕郷\
    堯尭曉暁區区驅駆勳勲薰薫徑径惠恵溪渓經経繼継莖茎螢蛍輕軽鷄鶏藝芸擊撃缺欠儉倹劍剣圈圏檢検\
    權権獻献縣県險険顯顕驗験嚴厳效効廣広恆恒鑛鉱號号國国黑黒碎砕濟済齋斎劑剤雜雑參参慘惨棧桟\
    蠶蚕贊賛殘残絲糸齒歯兒児辭辞濕湿實実舍舎寫写釋釈壽寿收収從従澁渋獸獣縱縦肅粛處処緖緒敍叙\
    奬奨將将燒焼稱称證証乘乗剩剰壤壌孃嬢條条淨浄疊畳穰穣讓譲釀醸觸触囑嘱寢寝愼慎晉晋眞真盡尽\
    圖図粹粋醉酔隨随髓髄數数樞枢瀨瀬聲声靜静齊斉攝摂竊窃專専戰戦淺浅潛潜纖繊踐践錢銭禪禅雙双\
    壯壮搜捜插挿爭争總総聰聡莊荘裝装騷騒增増臟臓藏蔵卽即屬属續続墮堕體体對対帶帯滯滞臺台瀧滝\
    擇択澤沢單単擔担膽胆團団彈弾斷断癡痴遲遅晝昼蟲虫鑄鋳廳庁聽聴鎭鎮遞逓鐵鉄轉転點点傳伝黨党\
    盜盗燈灯當当鬪闘德徳獨独讀読屆届繩縄貳弐惱悩腦脳霸覇廢廃拜拝賣売麥麦發発髮髪拔抜蠻蛮祕秘\
    濱浜甁瓶拂払佛仏倂併竝並變変邊辺邉辺辨弁瓣弁辯弁舖舗穗穂寶宝襃褒豐豊沒没飜翻槇槙萬万滿満\
    默黙彌弥藥薬譯訳豫予餘余與与譽誉搖揺樣様謠謡遙遥瑤瑶慾欲來来賴頼亂乱覽覧畧略龍竜兩両獵猟\
    綠緑鄰隣凜凛壘塁勵励禮礼隸隷靈霊齡齢戀恋爐炉勞労樓楼郞郎祿禄錄録亙亘灣湾脫脱稅税說説悅悦\
    閱閲銳鋭戾戻步歩每毎內内吳呉娛娯硏研靑青淸清虛虚戶戸巢巣曾曽槪概旣既壻婿曆暦歷歴淚涙髙高\
    彥彦產産絕絶塡填剝剥頰頬噓嘘摑掴瘦痩繫繋蔣蒋醬醤麵麺啞唖鷗鴎屛屏幷并餠餅蠟蝋搔掻禱祷瀆涜\
    俠侠軀躯靱靭";

/// The new form of a kanji; itself, if it is no old form.
pub(crate) fn new_form(c: char) -> char {
    static TABLE: LazyLock<Box<[u16]>> = LazyLock::new(table);
    let code = u32::from(c);
    if !(FIRST..=LAST).contains(&code) {
        return c;
    }
    let form = u32::from(TABLE[(code - FIRST) as usize]);
    if form == 0 { c } else { char::from_u32(form).unwrap_or(c) }
}

fn table() -> Box<[u16]> {
    let mut table = vec![0; (LAST - FIRST + 1) as usize].into_boxed_slice();
    let mut forms = PAIRS.chars();
    while let (Some(old), Some(new)) = (forms.next(), forms.next()) {
        let slot = u32::from(old).checked_sub(FIRST).and_then(|at| table.get_mut(at as usize));
        if let (Some(slot), Ok(new)) = (slot, u16::try_from(u32::from(new))) {
            *slot = new;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{PAIRS, new_form};

    #[test]
    fn every_pair_folds_to_a_form_that_stays() {
        let chars: Vec<char> = PAIRS.chars().collect();
        assert_eq!(chars.len() % 2, 0);
        for pair in chars.chunks(2) {
            assert_ne!(pair[0], pair[1]);
            assert_eq!(new_form(pair[0]), pair[1], "{pair:?}");
            assert_eq!(new_form(pair[1]), pair[1], "{pair:?}");
        }
    }

    #[test]
    fn other_characters_stay() {
        assert_eq!(new_form('a'), 'a');
        assert_eq!(new_form('共'), '共');
    }
}
